"""Nodes and relationships as JSON objects: times are marked, and vectors are lists of 32-bit floats."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

import neo4j.time
import numpy as np

from services.runtime.space_rows import refused_rows

# Properties that a vector index is on; the store keeps them as 32-bit floats.
VECTORS = frozenset({"embedding", "fact_embedding", "name_embedding"})
_TIME = "$time"
_VECTOR = "$float32"
_PROPERTIES = frozenset({"properties", "sentence"})


def row_as_json(exported: dict[str, Any]) -> str:
    """Returns a row with sorted keys, without line feeds."""
    given = dict(exported)
    for name in _PROPERTIES & given.keys():
        given[name] = _written(given[name])
    if "claims" in given:
        given["claims"] = [_written(claim) for claim in given["claims"]]
    return json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def row_from_json(text: str) -> dict[str, Any]:
    """Returns a row for the store, its vectors apart. Raises InvalidFieldError for what is not an exported row."""
    try:
        row = json.loads(text)
        properties = _read(row["properties"])
        row["vectors"] = {name: properties.pop(name) for name in VECTORS & properties.keys()}
        row["properties"] = properties
        if "sentence" in row:
            row["sentence"] = _read(row["sentence"])
        if "claims" in row:
            row["claims"] = [_read(claim) for claim in row["claims"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise refused_rows() from None
    return dict(row)


def _written(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _written_value(name, value) for name, value in properties.items() if value is not None
    }


def _written_value(name: str, value: Any) -> Any:
    if name in VECTORS:
        return {_VECTOR: base64.b64encode(np.asarray(value, dtype="<f4").tobytes()).decode()}
    if isinstance(value, neo4j.time.DateTime):
        return {_TIME: value.iso_format()}
    if isinstance(value, datetime):
        return {_TIME: value.isoformat()}
    return value


def _read(properties: dict[str, Any]) -> dict[str, Any]:
    return {name: _read_value(value) for name, value in properties.items()}


def _read_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if _TIME in value:
        return neo4j.time.DateTime.from_iso_format(value[_TIME])
    return np.frombuffer(base64.b64decode(value[_VECTOR], validate=True), dtype="<f4").tolist()
