"""The words of a command line into values, without pydantic where that is easy.

Typer asks pydantic to turn a text into a text, and loads it for the first value that there is: that takes
as long as a whole search. Whatever is not plainly right is left to Typer, and so are its messages.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LEFT = object()  # what is left to Typer


def lighten(parameters: Iterable[Any]) -> None:
    """Have the values of a command's parameters turned here; with a Typer that has other ways, nothing happens."""
    for parameter in parameters:
        known = all(hasattr(parameter, name) for name in ("type_descriptor", "get_runtime_param", "nargs"))
        if known and getattr(parameter, "_runtime_param", LEFT) is None:
            parameter._runtime_param = _Light(parameter)


class _Light:
    """Stands in the place of what Typer would make of pydantic, and makes way for it."""

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter

    def coerce(self, value: Any, *rest: Any, **more: Any) -> Any:
        """The value that the command is given."""
        parameter = self._parameter
        found = _none(parameter) if value is None else _described(parameter.type_descriptor, value)
        if found is not LEFT:
            return found
        parameter._runtime_param = None
        return parameter.get_runtime_param().coerce(value, *rest, **more)


def _none(parameter: Any) -> Any:
    return () if parameter.nargs == -1 or getattr(parameter, "multiple", False) else None


def _described(wanted: Any, value: Any) -> Any:
    return turned(wanted.annotation, value, wanted.parameter_info.min, wanted.parameter_info.max)


def turned(kind: Any, value: Any, least: int | None, most: int | None) -> Any:
    """`value` as the `kind` that is wanted, a number between `least` and `most`; else LEFT."""
    if kind is str and isinstance(value, str):
        return value
    if kind == list[str] and isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return list(value)
    if kind is Path and isinstance(value, (str, Path)):
        return Path(value) if os.access(value, os.R_OK) or not os.path.lexists(value) else LEFT
    if kind is int and most is None:
        text = str(value)
        small = text.isascii() and text.isdigit() and len(text) < 10
        return int(text) if small and int(text) >= (least or 0) else LEFT
    return LEFT
