"""Opaque cursors: the position of the next page, bound to the query."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import NamedTuple

from services.runtime.errors import FieldError, InvalidFieldError

_DIGEST = 12
_REFUSED = (
    "belongs to another query, or is not a cursor: send it with the very arguments that it was answered to, "
    "or leave it out"
)


class Position(NamedTuple):
    """A position in a list: a page of the tier, and the number of its items that were already shown."""

    page_token: str = ""
    shown: int = 0


@dataclass(frozen=True, slots=True)
class Cursor:
    """Writes and reads the cursors of one query."""

    query: str

    def write(self, position: Position) -> str:
        """Returns the cursor for a position."""
        payload = json.dumps(position, separators=(",", ":")).encode()
        return urlsafe_b64encode(self._digest(payload) + payload).decode().rstrip("=")

    def read(self, cursor: str | None) -> Position:
        """Returns the position of a cursor, by default the first one. Raises InvalidFieldError for invalid text."""
        if not cursor:
            return Position()
        try:
            data = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        except ValueError:
            raise _refused() from None
        digest, payload = data[:_DIGEST], data[_DIGEST:]
        if digest != self._digest(payload):
            raise _refused()
        return Position(*json.loads(payload))

    def _digest(self, payload: bytes) -> bytes:
        return hashlib.sha256(self.query.encode() + b"\0" + payload).digest()[:_DIGEST]


def _refused() -> InvalidFieldError:
    return InvalidFieldError(FieldError("cursor", _REFUSED))
