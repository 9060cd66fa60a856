"""`python -m tests.benchmarks.embedding_server`: an OpenAI-compatible endpoint with real vectors.

Runs as a separate process and writes its base URL to standard output. It caches the vector of every text and uses
uvloop, so that the provider's speed does not affect the measurement.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvloop

from services.models.embedding.local_engine import Engine
from services.models.embedding.local_models import LOCAL_MODEL, LOCAL_MODELS
from tests.stubs.openai_server import OpenAIStub, Reply

MODEL = "measured-model"
DIMENSION = 384
_BUDGET = 512


class RememberedVectors:
    """Responses with the local model's vectors; each text is computed once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, str] = {}

    def answer(self, request: dict[str, Any]) -> Reply:
        """Returns the response to a request for embeddings, as plain numbers."""
        given = request["input"]
        texts = [given] if isinstance(given, str) else given
        self._compute([text for text in texts if text not in self._known])
        data = ",".join(
            f'{{"object":"embedding","index":{index},"embedding":{self._known[text]}}}'
            for index, text in enumerate(texts)
        )
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        head = json.dumps({"object": "list", "model": request["model"], "usage": usage})
        return Reply(body=f'{head[:-1]},"data":[{data}]}}'.encode())

    def _compute(self, texts: Sequence[str]) -> None:
        if not texts:
            return
        rows = self._engine.embed(texts, _BUDGET)
        for text, row in zip(texts, rows, strict=True):
            self._known[text] = json.dumps(row.tolist())


async def serve() -> None:
    """Serves until SIGTERM or SIGINT."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    with tempfile.TemporaryDirectory(prefix="braid-model-") as folder:
        async with OpenAIStub(DIMENSION) as stub:
            engine = Engine.load(LOCAL_MODELS[LOCAL_MODEL], Path(folder), threads=1)
            vectors = RememberedVectors(engine)
            stub.routes["/v1/embeddings"] = vectors.answer
            sys.stdout.write(f"{stub.base_url}\n")
            sys.stdout.flush()
            await stopped.wait()


if __name__ == "__main__":
    uvloop.run(serve())
