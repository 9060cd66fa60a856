"""An OpenAI-compatible endpoint with precomputed vectors, so that measurements exclude the cost of embedding."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import numpy as np

from tests.stubs.openai_server import OpenAIStub, Reply

DIMENSION = 384
_MODEL = "given-vectors"
_READY = 512


class ReadyVectors:
    """Responses with pre-serialized vectors; equal texts get equal vectors."""

    def __init__(self, seed: int) -> None:
        rows = np.random.default_rng(seed).standard_normal((_READY, DIMENSION)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        self._rows = [json.dumps([round(float(value), 6) for value in row]) for row in rows]

    def answer(self, request: dict[str, Any]) -> Reply:
        """Returns the response to a request for embeddings."""
        texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
        data = ",".join(
            f'{{"object":"embedding","index":{index},"embedding":{self._of(text)}}}'
            for index, text in enumerate(texts)
        )
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        head = json.dumps({"object": "list", "model": request["model"], "usage": usage})
        return Reply(body=f'{head[:-1]},"data":[{data}]}}'.encode())

    def _of(self, text: str) -> str:
        return self._rows[zlib.crc32(text.encode()) % _READY]


@contextlib.asynccontextmanager
async def given_vectors(seed: int) -> AsyncIterator[Mapping[str, str]]:
    """Runs the endpoint; yields the environment variables with which processes use it."""
    async with OpenAIStub(DIMENSION) as stub:
        stub.routes["/v1/embeddings"] = ReadyVectors(seed).answer
        yield {
            "EMBEDDING_PROVIDER": "openai",
            "EMBEDDING_BASE_URL": stub.base_url,
            "EMBEDDING_API_KEY": "measured",
            "EMBEDDING_MODEL": _MODEL,
            "EMBEDDING_DIMENSION": str(DIMENSION),
        }
