"""A process's settings from its environment; what is wrong with them in a line for each, to end the process with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

Settings = TypeVar("Settings", bound=BaseSettings)

# Where pydantic's own sentence is longer than what there is to say.
_TOLD = {
    "missing": "is needed",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
}


def read_settings(kind: type[Settings]) -> Settings:
    """The settings. SystemExit with a line for each that is wrong, by its name and never with its value."""
    try:
        return kind()
    except ValidationError as error:
        # Values may be secrets: neither they nor what pydantic knows of them leave it.
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise SystemExit("\n".join(_lines(kind, found))) from None


def _lines(kind: type[BaseSettings], found: list[ErrorDetails]) -> Iterator[str]:
    for error in found:
        message = _TOLD.get(error["type"]) or _plain(error["msg"])
        name = _name(kind, error["loc"])
        yield f"{name} {message}" if name else message


def _plain(message: str) -> str:
    """Our own checks name their settings; pydantic's go on after a setting's name."""
    return message.removeprefix("Value error, ").replace("Input should", "must", 1)


def _name(kind: type[BaseSettings], location: tuple[Any, ...]) -> str:
    """The environment variable of a wrong setting; empty where several do not go together."""
    if not location:
        return ""
    step = str(location[0])
    if step not in kind.model_fields:
        return step  # it has a name of its own
    return f"{kind.model_config.get('env_prefix', '')}{step}".upper()
