"""Opaque page tokens, bound to the query that they belong to."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

from services.runtime.errors import FieldError, InvalidFieldError

Scalar = str | int | float | bool | None


def encode_token(query: tuple[Scalar, ...], position: list[Scalar]) -> str:
    """The token that goes on after `position` in the listing that `query` describes."""
    body = json.dumps([_fingerprint(query), position], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")


def decode_token(
    token: str, query: tuple[Scalar, ...], *, length: int, field: str = "page_token"
) -> list[Any]:
    """The position in a token: `length` values. InvalidFieldError when malformed or of another query."""
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
