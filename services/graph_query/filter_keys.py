"""What filters compare with: a filter that is given must not become one that lets everything pass."""

from __future__ import annotations

from services.graph_query.names import name_key
from services.runtime.errors import FieldError, InvalidFieldError


def filter_key(text: str, field: str) -> str:
    """The key of a name to look for, "" when none is given. InvalidFieldError for white space alone."""
    key = name_key(text)
    if text and not key:
        raise InvalidFieldError(FieldError(field, "must not be blank"))
    return key
