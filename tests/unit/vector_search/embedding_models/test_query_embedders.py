"""What embeds queries of spaces on other models than the configured one has what the settings give to that one."""

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


class Kept:
    """A store of vectors."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Matrix] = {}

    async def recall(self, digest: bytes) -> Matrix | None:
        return self.rows.get(digest)

    async def remember(self, digest: bytes, row: Matrix) -> None:
        self.rows[digest] = row


def queries(kept: Kept, *, entries: int, stored: int) -> QueryEmbedders:
    """As a process has them: with the model `former` beside the configured one."""

    class Registry:
        default = CONFIGURED

        def named(self, model: str, _dimension: int | None = None) -> CompassEmbedder | None:
            return FORMER if model == FORMER.model else None

    registry: Any = Registry()
    store: Any = SimpleNamespace(query_embeddings=lambda _most: kept)
    settings = VectorSettings(database_url="postgresql://nowhere", stored_embeddings=stored)
    embedding = EmbeddingSettings(provider="local", cache_entries=entries)
    made = build_queries(settings, embedding, store, registry)
    made.learn("old", Model(FORMER.model, FORMER.dimension))
    made.learn("new", Model(CONFIGURED.model, CONFIGURED.dimension))
    return made


async def source(made: QueryEmbedders, space: str) -> VectorSource:
    """Where the space's vector of a query comes from."""
    with call_scope(CallContext("r", "m", space, "u", frozenset())):
        found = made.of(space)
        assert found is not None
        return (await found.embed("north")).source


@pytest.mark.parametrize("space", ["new", "old"])
async def test_queries_are_remembered_and_stored_whatever_model_a_space_has(space: str) -> None:
    kept = Kept()
    made = queries(kept, entries=10, stored=10)
    assert await source(made, space) is VectorSource.COMPUTED
    await made.close()  # waits for vectors that are being stored
    assert len(kept.rows) == 1
    assert await source(made, space) is VectorSource.MEMORY
    assert await source(queries(kept, entries=10, stored=10), space) is VectorSource.STORED


@pytest.mark.parametrize("space", ["new", "old"])
async def test_nothing_is_kept_where_the_settings_say_so(space: str) -> None:
    kept = Kept()
    made = queries(kept, entries=0, stored=0)
    assert [await source(made, space) for _ in range(2)] == [VectorSource.COMPUTED] * 2
    await made.close()
    assert kept.rows == {}
