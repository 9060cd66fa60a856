"""Page sizes, and opaque page tokens that are bound to their query."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any
from uuid import UUID

from services.runtime.errors import FieldError, InvalidFieldError

Scalar = str | int | float | bool | None


def page_size(asked: int, *, default: int, largest: int) -> int:
    """Returns the number of items of a page: 0 is the default, and a larger value than the maximum is clamped."""
    return min(asked or default, largest)


def encode_token(query: tuple[Scalar, ...], position: list[Scalar]) -> str:
    """Returns a token that continues after `position` in the listing described by `query`."""
    body = json.dumps([_fingerprint(query), position], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")


def text_position(token: str, query: tuple[Scalar, ...], field: str = "page_token") -> str:
    """Returns the position in a listing ordered by one text; "" without a token.

    Raises InvalidFieldError for another query's token.
    """
    if not token:
        return ""
    position = decode_token(token, query, length=1, field=field)[0]
    if not isinstance(position, str) or "\x00" in position:
        raise InvalidFieldError(FieldError(field, "is not a token of this service"))
    return position


def uuid_position(token: str, query: tuple[Scalar, ...], field: str = "page_token") -> str:
    """Returns the position in a listing ordered by UUIDs. See `text_position`."""
    position = text_position(token, query, field)
    try:
        return str(UUID(position)) if position else ""
    except ValueError:
        raise InvalidFieldError(FieldError(field, "is not a token of this service")) from None


def decode_token(
    token: str, query: tuple[Scalar, ...], *, length: int, field: str = "page_token"
) -> list[Any]:
    """Returns the `length` values of a token's position. Raises InvalidFieldError if malformed or of another query."""
    try:
        padded = token + "=" * (-len(token) % 4)
        fingerprint, position = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        json.dumps(position, ensure_ascii=False).encode()  # half a character is in no store
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InvalidFieldError(FieldError(field, "is not a token of this service")) from None
    if fingerprint != _fingerprint(query):
        raise InvalidFieldError(FieldError(field, "belongs to another query"))
    if not isinstance(position, list) or len(position) != length:
        raise InvalidFieldError(FieldError(field, "is not a token of this service"))
    return position


def _fingerprint(query: tuple[Scalar, ...]) -> str:
    return hashlib.sha256(json.dumps(query).encode()).hexdigest()[:16]
