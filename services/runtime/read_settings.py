"""Reads a process's settings from its environment; reports invalid ones, a line each, and exits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

Settings = TypeVar("Settings", bound=BaseSettings)

# Replaces pydantic's longer sentences.
_TOLD = {
    "missing": "is needed",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
}


def read_settings(kind: type[Settings]) -> Settings:
    """Returns the settings.

    Raises SystemExit with a line for each invalid setting, with its name and never its value.
    """
    try:
        return kind()
    except ValidationError as error:
        # Values may be secrets, so neither they nor pydantic's details are included.
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise SystemExit("\n".join(_lines(kind, found))) from None


def _lines(kind: type[BaseSettings], found: list[ErrorDetails]) -> Iterator[str]:
    for error in found:
        message = _TOLD.get(error["type"]) or _plain(error["msg"])
        name = _name(kind, error["loc"])
        yield f"{name} {message}" if name else message


def _plain(message: str) -> str:
    """Returns the text to follow a setting's name; Braid's own checks already name their settings."""
    return message.removeprefix("Value error, ").replace("Input should", "must", 1)


def _name(kind: type[BaseSettings], location: tuple[Any, ...]) -> str:
    """Returns the environment variable of an invalid setting; "" if the error concerns several settings."""
    if not location:
        return ""
    step = str(location[0])
    if step not in kind.model_fields:
        return step  # It has an alias.
    return f"{kind.model_config.get('env_prefix', '')}{step}".upper()
