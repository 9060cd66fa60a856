"""Reads a safetensors file: a little-endian length, a JSON header of that length, then raw tensors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from services.models.vectors import Matrix

_LENGTH_BYTES = 8


def read_float32(path: Path) -> dict[str, Matrix]:
    """Every float32 tensor of the file by name, each a copy of its own. OSError, ValueError."""
    raw = np.memmap(path, mode="r", dtype=np.uint8)
    start = _LENGTH_BYTES + int.from_bytes(raw[:_LENGTH_BYTES].tobytes(), "little")
    header = json.loads(raw[_LENGTH_BYTES:start].tobytes())
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") != "F32":
            continue
        first, last = entry["data_offsets"]
        data = raw[start + first : start + last].tobytes()
        # A copy: the quantiser scales weights in place.
        tensors[name] = np.frombuffer(data, dtype="<f4").reshape(entry["shape"]).copy()
    return tensors
