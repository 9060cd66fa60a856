"""Positions in listings by (name, uuid)."""

from __future__ import annotations

from services.runtime.paging import decode_token

FIRST = ("", "")


def position(token: str, query: tuple[str, ...]) -> tuple[str, str]:
    """The position in a page's token, `FIRST` without one. InvalidFieldError for the token of another query."""
    if not token:
        return FIRST
    name, uuid = decode_token(token, query, length=2)
    return str(name), str(uuid)
