"""Positions in listings by (name, uuid)."""

from __future__ import annotations

from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import decode_token

FIRST = ("", "")


def position(token: str, query: tuple[str, ...]) -> tuple[str, str]:
    """The position in a page's token, `FIRST` without one. InvalidFieldError for any other token than this query's."""
    if not token:
        return FIRST
    name, uuid = decode_token(token, query, length=2)
    if not isinstance(name, str) or not isinstance(uuid, str):
        raise InvalidFieldError(FieldError("page_token", "is not a token of this service"))
    return name, uuid
