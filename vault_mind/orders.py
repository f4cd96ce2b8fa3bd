"""Whether a text reads like orders to an assistant: planted, perhaps. A hint for the reader, no gate."""

import re

from vault_mind.guises import plain

READ = 20_000  # characters that are looked at

_ORDERS = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}
        \b(?:instructions?|rules?|prompts?|guidelines?|messages?|directions?|everything\ (?:above|before))\b
  | (?:^|\n)[\s>*\#_-]*(?:system|assistant|human|developer)(?:\ (?:prompt|message|note|override))?\s*:
  | \b(?-i:SYSTEM|ASSISTANT|DEVELOPER)(?:\ (?:prompt|message|note|override))?\s*:
  | \bfrom\ now\ on\b
  | \b(?:you\ are\ now|act\ as|pretend\ (?:to\ be|you)|roleplay\ as|new\ instructions?|jailbreak)\b
  | \b(?:you|assistant|claude|the\ (?:model|ai|assistant))\ (?:must|should|shall|will|need\ to|have\ to|is\ to|are\ to)
        \ (?:now|always|never|not|only|immediately|first|instead|delete|send|tell|say|ignore|reveal|save|store
        |remember|forget|obey|follow|comply|recommend|answer|reply|call|use|treat|trust|mention)\b
  | \b(?:do\ not|don['’]t|never)\ (?:tell|mention|reveal|inform|warn|ask)\b[^.\n]{0,30}\buser
  | \b(?:reveal|print|show|send|leak|repeat|output|exfiltrate|post|include)\b[^\n]{0,50}?
        (?:\.env\b|\b(?:system\ prompt|api[_\ -]?keys?|passwords?|credentials?|secrets?|tokens?|instructions)\b)
  | \b(?:delete|erase|wipe|overwrite|forget)\ (?:every|all|each|any)\b[^.\n]{0,40}
        \b(?:notes?|memor(?:y|ies)|files?|preferences?)\b
  | \b(?:save|store|remember|record|write)\b[^.\n]{0,60}\bas\ (?:a\ )?(?:user|new)\ (?:preference|fact|memory|rule)\b
  | \b(?:when|if|whenever)\ (?:you|the\ assistant|the\ ai|an?\ (?:ai|llm|agent))\ (?:read|see|retriev|recall|process)
  | <\s*/?\s*(?:system|instructions?|tool_result|tool_use|function_calls?|important|admin|user|assistant)\s*>
  | \[/?INST\]|<\|[a-z_]+\|>|<<SYS>>
  | \b(?:ignoriere|missachte|vergiss)\b[^.\n]{0,40}\b(?:anweisung|regel|vorgabe)
  | \bignor(?:e|ez|a|ar|i|ieren)\b[^.\n]{0,40}\b(?:instruccion|consigne|istruzion|instruções|anweisung)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def reads_like_orders(text: str) -> bool:
    """Whether `text` speaks to an assistant rather than about its user, in disguise or not."""
    return any(_ORDERS.search(read) for read in {text[:READ], plain(text[:READ])})
