"""An invalid field of a request, without a dependency on gRPC, because code below the servers uses it too."""

from __future__ import annotations

from typing import NamedTuple


class FieldError(NamedTuple):
    """An invalid field of a request: its path in the message, and what would be valid."""

    field: str
    description: str
