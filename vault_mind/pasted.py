"""Which stretches of a message are its writer's own words, and which are quoted or pasted. Pure.

What another wrote may be in a message for a hundred reasons, and none of them makes it something that the writer says
of themselves. It is known by its framing alone: fences, quotation marks, the head of a mail, a task that brings a text.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from vault_mind.third_person import SentencePattern

FOREIGN = "\0"  # stands for every character that is not the writer's own
LOOKED_BACK = 200  # characters before a quotation, for who says it
LONGEST = 20_000  # characters of a message that are looked at; the rest counts as pasted

_SPEAKS = SentencePattern(
    r"\b(?:i|i'm|i've|me|my|mine|we|our|us|you|your|user(?:'s)?|assistants?|ich|mir|mich|mein\w*|wir|du|dein\w*"
    r"|yo|mi|mis"
    r"|tú|tu|je|j'|moi|mon|ma|mes|nous|io|mio|mia|ik|mijn|jag|jeg|min)\b|[私僕俺]"
)
_REMEMBER = SentencePattern(
    r"\b(?:remember|note|memori[sz]e|keep in mind|don't forget|save|store|write (?:this |it )?down|correction|actually"
    r"|merk\w*|notier\w*|recuerda|anota|retiens|note[sz]|ricorda|onthoud|kom ihåg|husk)\b"
)
_TEXTS = (
    r"(?:labels?|stickers?|posters?|flyers?|banners?|brochures?|e-?mails?|mails?|letters?|messages?|texts?|pages?|reviews?|articles?|ads?|adverts?|posts?|tweets?|comments?"
    r"|transcripts?|captions?|subtitles?|logs?|output|errors?|paragraphs?|passages?|sentences?|poems?|songs?|lyrics"
    r"|minutes|entry|dialogues?|dialogs?|conversations?|snippets?|excerpts?|quotes?|readme|documents?|docs?|leaflets?"
    r"|signs?|notices?|stor(?:y|ies)|chapters?|exercises?|drafts?|cover letter|bio|description|file|code|query|prompt"
    r"|nachrichten?|briefe?|absätze?|artikel|gedicht|zitat|correos?|cartas?|mensajes?|textos?|courriels?|lettres?|testo"
    r"|lettera|messaggio|bericht|brief|tekst)"
)
_TASKS = (
    r"(?:translat(?:e|ing)|summari[sz]e|sum up|tl;?dr|rewrite|proofread|paraphrase|rephrase|shorten|edit|correct|check"
    r"|fix (?:the|my|any|all)? ?(?:typos|grammar|spelling|mistakes|errors)|improve|polish|answer|reply to|respond"
    r" to|explain"
    r"|analy[sz]e|classify|continue|format|convert|read|review|comment on|what does|what is wrong with|what's"
    r" wrong with"
    r"|what do you (?:make|think) of|is this|are these|übersetz\w*|fass\w*|korrigier\w*|verbesser\w*|beantworte|lies"
    r"|erklär\w*|traduc\w*|traduis\w*|tradui\w*|resum\w*|résum\w*|corrig\w*|corrige\w*|riassum\w*|vertaal|vat)"
)
# "Translate this:", "Proofread the mail below." A text follows, and it is nobody's word here.
_TASK = SentencePattern(
    rf"\A(?:(?:please|now|can you|could you|would you|will you|bitte|por favor|s'il vous plaît|kannst du|puedes|and|hey"
    rf"|hi|hello|ok)\b[, ]*)*\W*{_TASKS}\b"
)
_BRINGS = SentencePattern(
    rf"\b(?:the following|below|above|these (?:sentences|lines|texts|words)|this (?:\w+ ){{0,2}}{_TEXTS}"
    rf"|(?:the|my|her|his|their|a|folgenden?|diese\w*|este|esta|ce|cette|questa?|deze|dit) (?:\w+ ){{0,2}}{_TEXTS})\b"
)
_INTO = SentencePattern(
    r"\A\W*(?:please |bitte )?(?:translate|rewrite|proofread|rephrase|paraphrase|summari[sz]e|shorten|fix|correct"
    r"|explain"
    r"|übersetz\w*|traduc\w*|tradui\w*|traduis\w*|read|check|is this)\b[^:\n]{0,60}:(?=\s)"
)
_SAID = (
    r"(?:says?|said|told|tells|wr(?:ote|ites?|itten)|reads?|sent|sends|reports?|reported|shouts?|shouted|begins?|goes"
    r"|claims?|claimed|posted|texted|replied|replies|answered|asks?|asked|states?|stated|decodes to|shows?|has|quotes?"
    r"|sagte?|schrieb|meinte?|schreibt|dijo|dice|escribió|escribe|dit|écrit|scritto|dice|zei|zegt|schreef|sa|skrev)"
)
_HEAD = SentencePattern(r"\A(?P<head>[^:\n]{1,160}?):(?=\s|\Z)(?!\s*\Z.)")
_FRAME = SentencePattern(
    rf"\b(?:{_SAID})(?: \w+){{0,3}}\s*\Z|\b{_TEXTS}(?: \w+){{0,5}}\s*\Z|\A\W*{_TASKS}\b|\btool (?:output|result)\b"
)
_OWN_SAYING = SentencePattern(r"\b(?:i|we|ich|wir|yo|je)\b(?:'ve|'d| have| had| just| already| always)* *\Z")

_FENCE = re.compile(r"(?ms)^[ \t]*(?P<mark>```+|~~~+).*?(?:^[ \t]*(?P=mark)|\Z)")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]*>[^\n]*")
_CODE_SPEAKS = re.compile(r"\bI(?:'m| am| have| live)?\b|\b[Mm]y\b|\buser\b|\bassistant\b")
_INLINE_CODE = re.compile(r"`[^`\n]+`")
_MARKUP = re.compile(r"(?s)<(?P<name>[A-Za-z_][\w-]*)[^<>]*>.*?<\s*/\s*(?P=name)\s*>|<!--.*?(?:-->|\Z)")
_TAG = re.compile(r"<(?:\s*/\s*)?[A-Za-z_][\w-]*[^<>\n]*>")
_BRACES = re.compile(r"\{[^{}]*[\"':=][^{}]*\}")
_QUOTATION = re.compile(
    r"\"[^\"\n]*(?:\"|(?=\n)|\Z)|[“„«‟][^”“»]*(?:[”“»]|\Z)|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)"
    r"|(?<!\w)['‘‚](?=\w)[^\n]{0,300}?['’‘](?!\w)"
)
_MAIL_HEAD = re.compile(
    r"(?im)^\W{0,4}(?:from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|gesendet|de|para|asunto|enviado|objet|à"
    r"|oggetto|da|van|aan|onderwerp|fra|från|ämne)[ \t]*:[^\n]*\n"
)
_FORWARDED = re.compile(
    r"(?im)^\W{0,12}(?:(?:begin )?(?:forwarded|original|fwd)(?: message)?|weitergeleitete nachricht|ursprüngliche"
    r" nachricht"
    r"|mensaje (?:reenviado|original)|message (?:transféré|d'origine))\b[^\n]*$|^On [^\n]{5,80} wrote:\s*$"
    r"|^(?:fwd?|wg|tr|rv):"
)
_RULE = re.compile(r"(?m)^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|-- ?)[ \t]*$")
_ROLE = re.compile(
    r"(?im)^[ \t>*#_\"'(\[-]{0,12}(?:system|assistants?|human|user|ai(?: assistants?)?|bot|llm|developer|tool|model"
    r"|claude|chatgpt)"
    r"(?: (?:prompt|message|note|output|result))?[\])]?\s*:"
)
_LABEL = re.compile(
    r"(?m)^[ \t]*(?:[-*•][ \t]*)?(?:\d\d:\d\d[^\n]{0,8})?(?P<who>[A-Z][\w.'’-]*(?:"
    r" [A-Z][\w.'’-]*)?)[ \t]?:[ \t]+\S[^\n]*"
)
_TIMED = re.compile(r"\d\d:\d\d(?::\d\d[,.]?\d*)?\s*-->\s*\d\d:\d\d[^\n?!]*")
_LETTER = re.compile(
    r"(?im)^[ \t]*(?:dear|to whom|hello|hi|hey|sehr geehrte\w*|liebe\w?|hallo|guten tag|estimad[oa]s?"
    r"|querid[oa]s?|hola|chère?"
    r"|cher|bonjour|madame|monsieur|gentile|caro|cara|buongiorno|beste|geachte|hej|kära)\b[^\n.?!]{0,60}[,:!]?[ \t]*$"
)
_CLOSE = re.compile(
    r"(?im)^[ \t]*(?:(?:best|kind|warm)?(?: regards| wishes)?,?|yours(?: sincerely| faithfully| truly)?,?"
    r"|sincerely,?|cheers,?"
    r"|regards,?|mit freundlichen grüßen,?|viele grüße,?|saludos,?|cordialement,?)[^\n]{0,40}$"
)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n+|(?<=[。！？])")


@lru_cache(maxsize=16)  # every candidate of a message asks again
def own(message: str) -> str:
    """`message` with FOREIGN in the place of every character that is not its writer's own; as long as it is."""
    text = list(message)
    _hide(text, LONGEST, len(text))
    for start, stop in _framed(message[:LONGEST]):
        _hide(text, start, stop)
    return "".join(text)


def _hide(text: list[str], start: int, stop: int) -> None:
    for at in range(start, min(stop, len(text))):
        if not text[at].isspace():
            text[at] = FOREIGN


def _framed(message: str) -> Iterator[tuple[int, int]]:
    """Where what is not the writer's own begins and ends."""
    straight = message.replace("’", "'")
    for pattern in (_FENCE, _QUOTED_LINE, _MARKUP, _TAG, _TIMED):
        yield from (match.span() for match in pattern.finditer(straight))
    for code in _INLINE_CODE.finditer(straight):
        if len(code[0].split()) > 4 or _CODE_SPEAKS.search(code[0]) or re.search(r"[={};]", code[0]):
            yield code.span()
    for braces in _BRACES.finditer(straight):
        yield _widened(straight, *braces.span())
    yield from _quotations(straight)
    yield from _mails(straight)
    yield from _dialogues(straight)
    yield from _tasks(straight)


def _widened(text: str, start: int, stop: int) -> tuple[int, int]:
    """The braces around braces as well."""
    while start and text[:start].rstrip()[-1:] in ("{", ":", "[", '"') and "{" in text[:start]:
        start = text.rindex("{", 0, start)
    while text[stop:].lstrip()[:1] in ("}", "]"):
        stop = text.index(text[stop:].lstrip()[0], stop) + 1
    return start, stop


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Quoted words that speak, that somebody says, or that are more than a name."""
    for match in _QUOTATION.finditer(text):
        before = _SENTENCE.split(text[max(0, match.start() - LOOKED_BACK) : match.start()])[-1]
        framed = _FRAME.search(before.rstrip(" :,")) and not _REMEMBER.search(before)
        if _SPEAKS.search(match[0]) or framed or len(match[0].split()) > 7:
            yield match.span()


def _mails(text: str) -> Iterator[tuple[int, int]]:
    """Mails and letters: from their heads or their greeting to their end, or to the end of it all."""
    for head in (_MAIL_HEAD.search(text), _FORWARDED.search(text)):
        if head:
            rules = [rule.end() for rule in _RULE.finditer(text, head.end())]
            ruled = len(rules) > 1 or (rules and text[: rules[0]].count("\n") > 2)
            yield head.start(), rules[-1] if ruled else len(text)
    between = [rule.start() for rule in _RULE.finditer(text)]
    yield from zip(between[::2], between[1::2], strict=False)
    for greeting in _LETTER.finditer(text):
        if text[: greeting.start()].strip() and text[greeting.end() :].strip():
            close = _CLOSE.search(text, greeting.end() + 1)
            while close and not close[0].strip():
                close = _CLOSE.search(text, close.end() + 1)
            yield greeting.start(), (close.end() + 60 if close else len(text))


def _dialogues(text: str) -> Iterator[tuple[int, int]]:
    """Lines that begin with who speaks: a role of a chat with a machine at once, names where there are two."""
    for role in _ROLE.finditer(text):
        stop = _PARAGRAPH.search(text, role.end())
        yield role.start(), stop.start() if stop else len(text)
    labelled = list(_LABEL.finditer(text))
    if len(labelled) > 1 and any(_SPEAKS.search(line[0].split(":", 1)[1]) for line in labelled):
        yield from (line.span() for line in labelled)


def _tasks(text: str) -> Iterator[tuple[int, int]]:
    """What a task brings, or somebody is said to say: from a colon to the end of its paragraph, or all that follows."""
    start = 0
    for end in [*_SENTENCE.finditer(text), None]:
        begins, stops, start = start, end.start() if end else len(text), end.end() if end else len(text)
        sentence = text[begins:stops]
        task, head = _TASK.match(sentence), _HEAD.match(sentence)
        if head and not _REMEMBER.search(head["head"]) and (task or _is_frame(head["head"])):
            brought = begins + head.end()
            if _QUOTATION.match(text[brought:].lstrip()):
                continue  # the quotation is hidden; what follows it is said again
            whole = task or not text[brought:stops].strip()
            rules = list(islice(_RULE.finditer(text, brought), 2))
            end_of_it = rules[1:] or [] if whole else [_PARAGRAPH.search(text, begins)]
            yield brought, next((found.end() for found in end_of_it if found), len(text))
        elif (brings := _BRINGS.search(sentence) if task else None) and (
            "\n" in text[stops:start] or brings[0].endswith(("following", "below"))
        ):
            yield start, len(text)


def _is_frame(head: str) -> bool:
    found = _FRAME.search(head)
    return found is not None and not _OWN_SAYING.search(head[: found.start()])
