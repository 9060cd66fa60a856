"""Vectors of facts are as long as the space has them, and as long as its graph takes them."""

from __future__ import annotations

from typing import Any

import pytest

from braid.graph.internal.v1 import embeddings_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.clients.space_models import Recorded
from services.agent_orchestrator.ingest.facts import FactVectors
from tests.stubs.embedders import StubEmbedder, StubModels

Graph = embeddings_pb2.GetGraphEmbeddingsResponse


class Tiers:
    """A space's models in both tiers."""

    def __init__(self, graph: Graph, recorded: Recorded) -> None:
        self.graph = graph
        self.passages = recorded

    async def state(self) -> Graph:
        return self.graph

    async def recorded(self) -> Recorded:
        return self.passages


async def lengths(tiers: Tiers, embedder: StubEmbedder, *given: int, model: str = "") -> list[int]:
    """How long the vectors of facts are: of some that came with one, and of one that came without."""
    facts = [
        graph_pb2.FactInput(statement="Ada knows Bob.", embedding=[1.0] * n) for n in (*given, 0)
    ]
    told: Any = tiers
    await FactVectors(told, told, embedder).fill(facts, model)
    return [len(fact.embedding) for fact in facts]


@pytest.mark.parametrize("configured", ["newer", "former"])
async def test_facts_have_vectors_as_long_as_the_graphs(configured: str) -> None:
    """Whether the settings name another model by now, or ask for other vectors of the same one."""
    embedder = StubModels(configured, 16, others=[StubEmbedder("former", n) for n in (16, 4)])
    tiers = Tiers(
        Graph(embedding_model="former", vector_count=2, dimension=4), Recorded("former", 16)
    )
    assert await lengths(tiers, embedder) == [4]
    assert await lengths(tiers, embedder, 4, model="former") == [4, 4]


async def test_the_first_facts_have_vectors_as_long_as_the_passages() -> None:
    embedder = StubModels("newer", 16, others=[StubEmbedder("former", n) for n in (16, 4)])
    assert await lengths(Tiers(Graph(), Recorded("former", 4)), embedder) == [4]


async def test_the_first_facts_of_the_configured_model_are_as_long_as_the_graph_takes_them() -> (
    None
):
    """It knows the settings alone, not how long the passages' vectors are."""
    embedder = StubModels("ours", 16, others=[StubEmbedder("ours", 4)])
    tiers = Tiers(Graph(), Recorded("ours", 4))
    assert await lengths(tiers, embedder) == [16]
    assert await lengths(tiers, embedder, 16, model="ours") == [16, 16]


async def test_no_embedder_is_asked_for_a_length_that_a_caller_alone_gives() -> None:
    asked: list[int | None] = []

    class Noting(StubModels):
        def named(self, model: str, dimension: int | None = None) -> StubEmbedder | None:
            asked.append(dimension)
            return super().named(model, dimension)

    embedder = Noting("newer", 16, others=[StubEmbedder("former", 4)])
    tiers = Tiers(Graph(), Recorded("former", 4))
    assert await lengths(tiers, embedder, 7, model="former") == [7, 0]
    assert asked == [None]
