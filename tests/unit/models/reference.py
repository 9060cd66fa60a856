"""all-MiniLM-L6-v2 in float32 with numpy, following the paper's formulas: the reference for the int8 model."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

LAYERS, HEADS, EPSILON = 6, 12, 1e-12
_erf = np.vectorize(math.erf, otypes=[np.float32])


class Reference:
    """Embeds one text at a time, slowly."""

    def __init__(self, safetensors: Path) -> None:
        content = safetensors.read_bytes()
        size = int.from_bytes(content[:8], "little")
        self._header = json.loads(content[8 : 8 + size])
        self._data = content[8 + size :]

    def embed(self, ids: list[int]) -> Array:
        """Returns the mean of the last layer's states, normalized to length 1."""
        states = self._embeddings(ids)
        for number in range(LAYERS):
            states = self._layer(states, f"encoder.layer.{number}")
        mean = states.mean(axis=0)
        unit: Array = mean / np.linalg.norm(mean)
        return unit

    def _embeddings(self, ids: list[int]) -> Array:
        words = self._weight("embeddings.word_embeddings.weight")[ids]
        positions = self._weight("embeddings.position_embeddings.weight")[: len(ids)]
        kind = self._weight("embeddings.token_type_embeddings.weight")[0]
        return self._norm(words + positions + kind, "embeddings.LayerNorm")

    def _layer(self, x: Array, name: str) -> Array:
        attended = self._dense(self._attention(x, name), f"{name}.attention.output.dense")
        x = self._norm(x + attended, f"{name}.attention.output.LayerNorm")
        inner = self._dense(x, f"{name}.intermediate.dense")
        inner = inner * (1 + _erf(inner / math.sqrt(2))) / 2
        return self._norm(
            x + self._dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm"
        )

    def _attention(self, x: Array, name: str) -> Array:
        query, key, value = (
            self._dense(x, f"{name}.attention.self.{part}").reshape(len(x), HEADS, -1)
            for part in ("query", "key", "value")
        )
        scores = np.einsum("qhd,khd->hqk", query, key) / math.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        joined: Array = np.einsum("hqk,khd->qhd", weights, value).reshape(len(x), -1)
        return joined

    def _dense(self, x: Array, name: str) -> Array:
        result: Array = x @ self._weight(f"{name}.weight").T + self._weight(f"{name}.bias")
        return result

    def _norm(self, x: Array, name: str) -> Array:
        centered = x - x.mean(axis=-1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + EPSILON)
        result: Array = scaled * self._weight(f"{name}.weight") + self._weight(f"{name}.bias")
        return result

    def _weight(self, name: str) -> Array:
        entry = self._header[name]
        start, end = entry["data_offsets"]
        return np.frombuffer(self._data[start:end], dtype="<f4").reshape(entry["shape"])
