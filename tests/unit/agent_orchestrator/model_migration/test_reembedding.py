"""Reembedding with a model that the space already has in another dimension: no store can hold both dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from braid.graph.internal.v1 import embeddings_pb2
from braid.vector.internal.v1 import models_pb2
from services.agent_orchestrator.clients.space_models import Recorded
from services.agent_orchestrator.ingest.pipeline.space_embedder import Registry, SingleModel
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.model_migration.reembedding import Reembedding
from services.runtime.errors import WrongStateError
from tests.stubs.embedders import StubEmbedder, StubModels

Graph = embeddings_pb2.GetGraphEmbeddingsResponse


class Tiers:
    """Both tiers of a space without chunks or texts. Changes to the vector tier are recorded."""

    def __init__(self, models: Mapping[str, int], active: str, graph: Graph | None = None) -> None:
        self.models = dict(models)
        self.active = active
        self.graph = graph or Graph()
        self.changes: list[tuple[object, ...]] = []

    async def dimensions(self) -> Mapping[str, int]:
        return self.models

    async def recorded(self) -> Recorded:
        return Recorded(self.active, self.models.get(self.active, 0))

    async def chunks(self) -> int:
        return 0

    async def add(self, model: str, dimension: int) -> None:
        self.changes.append(("add", model, dimension))

    async def hold_writes(self, seconds: int) -> None:
        """Does nothing."""

    async def activate(self, model: str) -> None:
        self.changes.append(("activate", model))

    async def remove(self, model: str) -> None:
        self.changes.append(("remove", model))

    async def state(self) -> Graph:
        return self.graph

    async def missing(self, *asked: object) -> Any:
        of_the_graph = len(asked) > 2
        if of_the_graph:
            return embeddings_pb2.ListUnembeddedTextsResponse()
        return models_pb2.ListChunksWithoutEmbeddingResponse()


async def reembed(registry: Registry, tiers: Tiers, model: str) -> Mapping[str, Any]:
    """Runs a reembedding job and returns its result."""

    async def nobody_waits() -> bool:
        return False

    async def save(*_: object) -> None:
        """Does nothing."""

    untyped: Any = tiers
    job = SimpleNamespace(space="local", arguments={"model": model}, progress=None)
    task: Any = SimpleNamespace(job=job, save=save)
    return await Reembedding(registry, untyped, untyped, Retries(0), nobody_waits).run(task)


@pytest.mark.parametrize(
    ("tiers", "there"),
    [
        (Tiers({"ours": 4}, "ours"), 4),
        (Tiers({"ours": 4, "other": 2}, "other"), 4),
        (
            Tiers(
                {"other": 2}, "other", Graph(embedding_model="ours", vector_count=3, dimension=8)
            ),
            8,
        ),
    ],
)
async def test_a_change_of_dimension_alone_fails_with_a_reason(tiers: Tiers, there: int) -> None:
    """Nothing is changed, whether the model is that of active vectors, of retained vectors, or of the graph."""
    with pytest.raises(WrongStateError) as failed:
        await reembed(SingleModel(StubEmbedder("ours", 16)), tiers, "ours")
    assert f"vectors of {there} values of the model ours" in failed.value.message
    assert f"Set EMBEDDING_DIMENSION to {there}" in failed.value.message
    assert "makes 16" in failed.value.message
    assert tiers.changes == []


async def test_a_space_that_already_has_the_configured_vectors_is_unchanged() -> None:
    ours, tiers = (
        StubEmbedder("ours", 16),
        Tiers({"ours": 16}, "ours", Graph(embedding_model="ours")),
    )
    assert (await reembed(SingleModel(ours), tiers, "ours"))["chunks"] == 0
    assert tiers.changes == []
    assert ours.texts == []


async def test_a_migration_keeps_its_dimension_after_the_settings_name_another_model() -> None:
    configured: Any = StubModels(
        "newest", 2, others=[StubEmbedder("ours"), StubEmbedder("ours", 8)]
    )
    configured.default = configured
    tiers = Tiers({"former": 4, "ours": 8}, "former")
    await reembed(configured, tiers, "ours")
    assert tiers.changes == [("add", "ours", 8), ("activate", "ours"), ("remove", "former")]
