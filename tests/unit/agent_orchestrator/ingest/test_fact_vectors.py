"""Fact vectors have the dimension of the graph's vectors; the first ones, that of the passages or the settings."""

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
    """The models of a space in both tiers."""

    def __init__(self, graph: Graph, recorded: Recorded) -> None:
        self.graph = graph
        self.passages = recorded

    async def state(self) -> Graph:
        return self.graph

    async def recorded(self) -> Recorded:
        return self.passages


async def lengths(tiers: Tiers, embedder: StubEmbedder, *given: int, model: str = "") -> list[int]:
    """Returns the lengths of the vectors of facts: of those given with a vector, and of one given without."""
    facts = [
        graph_pb2.FactInput(statement="Ada knows Bob.", embedding=[1.0] * n) for n in (*given, 0)
    ]
    untyped: Any = tiers
    await FactVectors(untyped, untyped, embedder).fill(facts, model)
    return [len(fact.embedding) for fact in facts]


@pytest.mark.parametrize("configured", ["newer", "former"])
async def test_fact_vectors_have_the_dimension_of_the_graphs_vectors(configured: str) -> None:
    """This holds if the settings name another model, or another dimension of the same model."""
    embedder = StubModels(configured, 16, others=[StubEmbedder("former", n) for n in (16, 4)])
    tiers = Tiers(
        Graph(embedding_model="former", vector_count=2, dimension=4), Recorded("former", 16)
    )
    assert await lengths(tiers, embedder) == [4]
    assert await lengths(tiers, embedder, 4, model="former") == [4, 4]


async def test_the_first_fact_vectors_have_the_dimension_of_the_passages() -> None:
    embedder = StubModels("newer", 16, others=[StubEmbedder("former", n) for n in (16, 4)])
    assert await lengths(Tiers(Graph(), Recorded("former", 4)), embedder) == [4]


async def test_the_first_fact_vectors_of_the_configured_model_have_its_dimension() -> None:
    """The graph tier knows only the settings, not the dimension of the passages' vectors."""
    embedder = StubModels("ours", 16, others=[StubEmbedder("ours", 4)])
    tiers = Tiers(Graph(), Recorded("ours", 4))
    assert await lengths(tiers, embedder) == [16]
    assert await lengths(tiers, embedder, 16, model="ours") == [16, 16]


async def test_no_embedder_is_requested_for_a_dimension_that_only_the_caller_uses() -> None:
    requested: list[int | None] = []

    class RecordingModels(StubModels):
        def named(self, model: str, dimension: int | None = None) -> StubEmbedder | None:
            requested.append(dimension)
            return super().named(model, dimension)

    embedder = RecordingModels("newer", 16, others=[StubEmbedder("former", 4)])
    tiers = Tiers(Graph(), Recorded("former", 4))
    assert await lengths(tiers, embedder, 7, model="former") == [7, 0]
    assert requested == [None]
