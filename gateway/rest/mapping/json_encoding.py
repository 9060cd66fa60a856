"""JSON responses from plain dicts, and the conversion of generic message parts to plain values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from gateway.rest.mapping.field_types import LAST_EXACT_INT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.struct_pb2 import Struct, Value
    from google.protobuf.timestamp_pb2 import Timestamp


Json = dict[str, Any]


def enum_names(enum: Any, prefix: str) -> dict[int, str | None]:
    """Returns an enum's values in lower case, without their common prefix; null for the unspecified value."""
    return {v: k.removeprefix(prefix).lower() if v else None for k, v in enum.items()}


def time(message: Any, name: str) -> str | None:
    """Returns a timestamp field as RFC 3339 in UTC; null if it is unset."""
    if not message.HasField(name):
        return None
    value: Timestamp = getattr(message, name)
    return value.ToJsonString()


def struct(value: Struct) -> Json:
    """Returns a JSON object; whole numbers are integers."""
    return {name: _plain(field) for name, field in value.fields.items()}


def _plain(value: Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) <= LAST_EXACT_INT else number
    if kind == "struct_value":
        return struct(value.struct_value)
    if kind == "list_value":
        return [_plain(item) for item in value.list_value.values]
    return getattr(value, kind) if kind in ("string_value", "bool_value") else None


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
)


def encode(value: Any) -> bytes:
    """Encodes a plain value as compact UTF-8 JSON; lone surrogates, which UTF-8 cannot encode, become `?`."""
    return _ENCODER.encode(value).encode("utf-8", "replace")


class JsonResponse(Response):
    """A response whose content is plain dicts, lists and scalars."""

    media_type = "application/json"

    def __init__(
        self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(encode(content), status, dict(headers) if headers else None)
