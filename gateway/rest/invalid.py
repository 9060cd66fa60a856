"""What FastAPI and pydantic refuse, in the one shape of an error: fields by path, never what was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_PROBLEMS = 100
# Where a validator of a whole JSON value notes in its error's context what is wrong within it.
INSIDE = "inside"
_LONGEST_NAME = 100
# Where pydantic's own sentence names a class.
_TOLD = {"model_type": "Input should be an object"}
# Where a parameter stands; its name alone is what a caller knows it by.
_PLACES = frozenset({"body", "query", "path", "header"})


def invalid(errors: Iterable[Mapping[str, Any]], under: str = "") -> InvalidFieldError:
    """The error that lists pydantic's problems; `under` is the path that they stand in."""
    found = [
        FieldError(_path(_location(error), under), _TOLD.get(error["type"], error["msg"]))
        for error in errors
    ]
    return InvalidFieldError(*dict.fromkeys(found[:MOST_PROBLEMS]))


def _location(error: Mapping[str, Any]) -> Iterable[str | int]:
    """Where JSON itself breaks off, the last step is the place of a character."""
    steps: tuple[str | int, ...] = (*error["loc"], *error.get("ctx", {}).get(INSIDE, ()))
    if error["type"] == "json_invalid" and steps and isinstance(steps[-1], int):
        return steps[:-1]
    return steps


def _path(location: Iterable[str | int], under: str) -> str:
    steps = list(location)
    if steps and steps[0] in _PLACES:
        steps = steps[1:]
    path = under
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _is_name(step):
            path += f".{step}" if path else step
    return path or "body"


def _is_name(step: str) -> bool:
    """Whether a step is a field's name, and not pydantic's word for one arm of a union."""
    return step not in ("datetime", "Between") and "[" not in step and len(step) < _LONGEST_NAME
