"""The time of the embedder alone, as the baseline for ingestion."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from services.models.embedding.embedder import Embedder
from services.models.embedding.local_models import LOCAL_MODEL, LOCAL_MODELS


@contextlib.asynccontextmanager
async def local_embedder() -> AsyncIterator[Embedder]:
    """Runs the local embedder on all cores of this process, with its model converted in a temporary folder."""
    from services.models.embedding.local import LocalEmbedder  # noqa: PLC0415 (heavy)

    with tempfile.TemporaryDirectory(prefix="braid-model-") as folder:
        embedder = LocalEmbedder(
            LOCAL_MODELS[LOCAL_MODEL], Path(folder), workers=len(os.sched_getaffinity(0))
        )
        try:
            yield embedder
        finally:
            await embedder.close()


async def embedding_seconds(embedder: Embedder, texts: Sequence[str]) -> float:
    """Embeds the texts in one call, so that the embedder chooses its batches; returns the seconds."""
    await embedder.embed(texts[:32])
    began = time.perf_counter()
    await embedder.embed(texts)
    return time.perf_counter() - began
