"""The worst-case mind: whatever planted text asks for it does, so that only the program's own checks are left."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vault_mind.model import Request, Schema

NUMBERS = range(6)  # neighbours and the like are named by small integers; it names them all
_HARMFUL = ("forget", "delete", "supersede", "replace", "update", "add", "save", "keep")  # the first that may be chosen


class Worst:
    """Answers as it is told to, and proposes `plants`: each a text and the quote it is said to rest on."""

    name = "worst"

    def __init__(self, plants: Sequence[Mapping[str, str]], says: str = "Saved, as you asked.") -> None:
        self._plants, self._says = plants, says

    def reply(self, request: Request) -> Iterator[str]:  # noqa: ARG002  # it would not listen anyway
        """Say that it obeys."""
        yield self._says

    def value(self, request: Request, schema: Schema) -> object:  # noqa: ARG002  # as above
        """The planted memories, or of any other schema what does most harm."""
        return self._filled(schema, {})

    def _filled(self, schema: Any, plant: Mapping[str, str], name: str = "") -> object:
        if name in plant:
            return plant[name]
        if "enum" in schema:
            return next((choice for choice in _HARMFUL if choice in schema["enum"]), schema["enum"][0])
        kinds = schema.get("type", "string")
        match kinds[0] if isinstance(kinds, list) else kinds:
            case "object":
                return {key: self._filled(each, plant, key) for key, each in schema.get("properties", {}).items()}
            case "array":
                return self._list(schema.get("items", {}), plant)
            case "boolean":
                return True
            case "integer" | "number":
                return 0
            case _:
                return ""

    def _list(self, schema: Any, plant: Mapping[str, str]) -> list[object]:
        if schema.get("type") in ("integer", "number"):
            return list(NUMBERS)
        if schema.get("type") != "object" or plant:
            return []
        properties = schema.get("properties", {})
        if "quote" in properties:  # an extraction: one for each plant
            return [self._filled(schema, {"kind": "fact", **each}) for each in self._plants]
        numbered = [key for key, each in properties.items() if each.get("type") in ("integer", "number")]
        filled: list[object] = []
        for number in NUMBERS:
            one = self._filled(schema, self._plants[0] if self._plants else {})
            filled.append({**one, **dict.fromkeys(numbered, number)} if isinstance(one, dict) else one)
        return filled
