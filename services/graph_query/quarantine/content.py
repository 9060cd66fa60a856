"""Serializes the content of quarantined items: compressed JSON that keeps times and vectors exactly."""

from __future__ import annotations

import json
import zlib
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import neo4j.time

_TIME = "$time"
_VECTOR = "$vector"
# Shorter lists of numbers are legible as they are.
_MIN_VECTOR = 16


def encode(content: Mapping[str, Any]) -> bytes:
    """Serializes content."""
    text = json.dumps(_plain(content), ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode())


def decode(stored: bytes) -> dict[str, Any]:
    """Returns serialized content."""
    value: dict[str, Any] = json.loads(zlib.decompress(stored), object_hook=_special)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, neo4j.time.DateTime):
        return {_TIME: value.iso_format()}
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return _packed(value) or [_plain(one) for one in value]
    return value


def _packed(values: list[Any] | tuple[Any, ...]) -> dict[str, str] | None:
    """Returns numbers of single precision as bytes; None for all other lists."""
    if len(values) < _MIN_VECTOR or not all(isinstance(one, float) for one in values):
        return None
    numbers = array("f", values)
    if numbers.tolist() != list(values):
        return None
    return {_VECTOR: b64encode(numbers.tobytes()).decode()}


def _special(value: dict[str, Any]) -> Any:
    if value.keys() == {_TIME}:
        return neo4j.time.DateTime.from_iso_format(value[_TIME])
    if value.keys() == {_VECTOR}:
        return array("f", b64decode(value[_VECTOR])).tolist()
    return value
