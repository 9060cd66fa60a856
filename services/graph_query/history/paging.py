"""Positions in listings, bound to the question that they belong to."""

from __future__ import annotations

import hashlib

from google.protobuf.message import Message

from services.graph_query.history.domain import Position
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import decode_token, encode_token

_OWN = ("page_token", "page_size")


class Pages:
    """The pages of one question in one space: whatever it asks, apart from the page itself."""

    def __init__(self, space: str, request: Message) -> None:
        asked = type(request)()
        asked.CopyFrom(request)
        for field in _OWN:
            asked.ClearField(field)
        told = asked.SerializeToString(deterministic=True)
        digest = hashlib.sha256(told).hexdigest()
        self._query = (request.DESCRIPTOR.name, space, digest)

    def token(self, *position: float | str) -> str:
        """The token of the page after a position."""
        return encode_token(self._query, list(position))

    def numbers_and_uuid(self, token: str, numbers: int) -> tuple[list[float], str] | None:
        """The position in a token, None for the first page. InvalidFieldError for another's token."""
        if not token:
            return None
        *found, uuid = decode_token(token, self._query, length=numbers + 1)
        if not isinstance(uuid, str) or not all(isinstance(one, float) for one in found):
            raise InvalidFieldError(FieldError("page_token", "is not a token of this service"))
        return found, uuid


def position(found: tuple[list[float], str] | None) -> Position | None:
    """The position whose first number is a start."""
    return None if found is None else Position(found[0][0], found[1])
