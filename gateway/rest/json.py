"""JSON answers written straight from plain dicts: what is built from a message needs no second validation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
)


def encode(value: Any) -> bytes:
    """A plain value as compact UTF-8 JSON; lone surrogates, which UTF-8 has no form for, become `?`."""
    return _ENCODER.encode(value).encode("utf-8", "replace")


class JsonAnswer(Response):
    """An answer whose content is plain dicts, lists and scalars."""

    media_type = "application/json"

    def __init__(
        self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(encode(content), status, dict(headers) if headers else None)
