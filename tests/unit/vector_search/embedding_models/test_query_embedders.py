"""Query embedders of all models, not only of the configured one, use the cache and the store of the settings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from services.models.embedding.query_embedder import VectorSource
from services.models.embedding.settings import EmbeddingSettings
from services.models.embedding.vectors import Matrix
from services.runtime.context import CallContext, call_scope
from services.vector_search.app import build_queries
from services.vector_search.domain import Model
from services.vector_search.embedding_models.query_embedders import QueryEmbedders
from services.vector_search.settings import VectorSettings
from tests.unit.vector_search.embedder import CompassEmbedder

CONFIGURED, FORMER = CompassEmbedder("newer", 3), CompassEmbedder("former", 3)


class VectorStore:
    """A store of query vectors."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Matrix] = {}

    async def recall(self, digest: bytes) -> Matrix | None:
        return self.rows.get(digest)

    async def remember(self, digest: bytes, row: Matrix) -> None:
        self.rows[digest] = row


def queries(stored_vectors: VectorStore, *, entries: int, stored: int) -> QueryEmbedders:
    """Returns the query embedders of a process with the model `former` next to the configured one."""

    class Registry:
        default = CONFIGURED

        def named(self, model: str, _dimension: int | None = None) -> CompassEmbedder | None:
            return FORMER if model == FORMER.model else None

    registry: Any = Registry()
    store: Any = SimpleNamespace(query_embeddings=lambda _limit: stored_vectors)
    settings = VectorSettings(database_url="postgresql://nowhere", stored_embeddings=stored)
    embedding = EmbeddingSettings(provider="local", cache_entries=entries)
    embedders = build_queries(settings, embedding, store, registry)
    embedders.learn("old", Model(FORMER.model, FORMER.dimension))
    embedders.learn("new", Model(CONFIGURED.model, CONFIGURED.dimension))
    return embedders


async def source(embedders: QueryEmbedders, space: str) -> VectorSource:
    """Returns the source of the vector of a query in the space."""
    with call_scope(CallContext("r", "m", space, "u", frozenset())):
        found = embedders.of(space)
        assert found is not None
        return (await found.embed("north")).source


@pytest.mark.parametrize("space", ["new", "old"])
async def test_query_vectors_are_cached_and_stored_for_every_model(space: str) -> None:
    stored_vectors = VectorStore()
    embedders = queries(stored_vectors, entries=10, stored=10)
    assert await source(embedders, space) is VectorSource.COMPUTED
    await embedders.close()  # waits for vectors that are being stored
    assert len(stored_vectors.rows) == 1
    assert await source(embedders, space) is VectorSource.MEMORY
    assert (
        await source(queries(stored_vectors, entries=10, stored=10), space) is VectorSource.STORED
    )


@pytest.mark.parametrize("space", ["new", "old"])
async def test_query_vectors_are_not_kept_if_the_settings_disable_it(space: str) -> None:
    stored_vectors = VectorStore()
    embedders = queries(stored_vectors, entries=0, stored=0)
    assert [await source(embedders, space) for _ in range(2)] == [VectorSource.COMPUTED] * 2
    await embedders.close()
    assert stored_vectors.rows == {}
