"""One wrong field of a request: free of gRPC, since code below the servers uses it too."""

from __future__ import annotations

from typing import NamedTuple


class FieldError(NamedTuple):
    """One wrong field of a request: its path in the message, and what would be right."""

    field: str
    description: str
