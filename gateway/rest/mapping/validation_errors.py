"""Errors of FastAPI and pydantic as one error: fields by path, plain sentences, never the values."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from pydantic_core.core_schema import ErrorType

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


MAX_PROBLEMS = 100
MAX_NAME_LENGTH = 100
# Key in the error's context for problems within a whole JSON value.
INSIDE = "inside"
NO_INSTANT = "must be a date or a time of RFC 3339, such as 2024-04-18 or 2024-04-18T09:30:00+02:00"
_OBJECT = "must be an object"
_NUMBER = "must be a number"
_WHOLE_NUMBER = "must be a whole number"
_TRUTH = "must be true or false"
_UTF8 = "must be text that UTF-8 can hold"
# By pydantic's error types; names in braces are keys of the error's context.
_SENTENCES = MappingProxyType(
    {
        "missing": "is required",
        "extra_forbidden": "is not a known field",
        "string_type": "must be a string",
        "string_unicode": _UTF8,
        "string_too_short": "must be at least {min_length} characters",
        "string_too_long": "must be at most {max_length} characters",
        "int_type": _WHOLE_NUMBER,
        "int_parsing": _WHOLE_NUMBER,
        "int_from_float": _WHOLE_NUMBER,
        "int_parsing_size": "must be a smaller number",
        "float_type": _NUMBER,
        "float_parsing": _NUMBER,
        "finite_number": "must be a finite number",
        "greater_than": "must be greater than {gt}",
        "greater_than_equal": "must be at least {ge}",
        "less_than": "must be less than {lt}",
        "less_than_equal": "must be at most {le}",
        "bool_type": _TRUTH,
        "bool_parsing": _TRUTH,
        "list_type": "must be a list",
        "too_short": "must contain at least {min_length} items",
        "too_long": "must contain no more than {max_length} items",
        "dict_type": _OBJECT,
        "model_type": _OBJECT,
        "model_attributes_type": _OBJECT,
        "literal_error": "must be {expected}",
        "enum": "must be {expected}",
        "json_invalid": "is not valid JSON: {error}",
        "value_error": "{error}",
        "uuid_type": "must be a UUID",
        "uuid_parsing": "must be a UUID",
        "datetime_type": NO_INSTANT,
        "datetime_parsing": NO_INSTANT,
        "datetime_from_date_parsing": NO_INSTANT,
        "datetime_object_invalid": NO_INSTANT,
        "timezone_aware": NO_INSTANT,
        "timezone_naive": NO_INSTANT,
        "timezone_offset": NO_INSTANT,
    }
)
_OTHER = "is not what is expected here"
_OF_PYDANTIC = frozenset(get_args(ErrorType))
# Locations of parameters, which are left out: callers know only the name.
_PLACES = frozenset({"body", "query", "path", "header"})
# Pydantic's name for the arm of a union that is an object.
_SPAN = "Between"


def invalid(errors: Iterable[Mapping[str, Any]], under: str = "") -> InvalidFieldError:
    """Returns the error for pydantic's problems; `under` is the path of the validated value."""
    found = [
        FieldError(_path(_location(error), under), sentence(error))
        for error in errors
        # The other arm's message for a value that is not an object would contradict the first.
        if error["loc"][-1:] != (_SPAN,)
    ]
    return InvalidFieldError(*dict.fromkeys(found[:MAX_PROBLEMS]))


def sentence(error: Mapping[str, Any]) -> str:
    """Returns what would be valid, as a sentence. Own validators provide the sentence."""
    kind = error["type"]
    if kind not in _OF_PYDANTIC:
        return str(error["msg"])
    return _SENTENCES.get(kind, _OTHER).format_map(error.get("ctx", {}))


def _location(error: Mapping[str, Any]) -> Iterable[str | int]:
    """Returns the error's path, without the character position that pydantic appends for invalid JSON."""
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
    """Whether a step is a field's name, and not pydantic's name for an arm of a union."""
    return step not in ("datetime", _SPAN) and "[" not in step and len(step) < MAX_NAME_LENGTH
