"""If a space's facts have no vectors, no leg waits for the query's vector, and the vector tier computes its own."""

from __future__ import annotations

import asyncio

import pytest

from braid.agent.v1 import search_pb2
from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.runtime.errors import StoreUnavailableError
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, World
from tests.integration.agent_orchestrator.searches import legs
from tests.stubs.graph_tier import fact_hit
from tests.stubs.script import Act, fail, hang
from tests.stubs.vector_tier import chunk_hit

BY_WORDS = query_pb2.SearchFactsResponse(
    hits=[fact_hit("f1", ["c1"])], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
)
COMPARED = query_pb2.SearchFactsResponse(
    hits=[fact_hit("f1", ["c1"]), fact_hit("f2", ["c2"])],
    leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK),
    vector_path=retrieval_pb2.VECTOR_PATH_INDEX,
)
WITHOUT_QUERY_VECTOR = query_pb2.SearchFactsResponse(
    hits=[fact_hit("f1", ["c1"])],
    leg=legs_pb2.LegReport(
        status=legs_pb2.LEG_STATUS_DEGRADED, reason=legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE
    ),
)

FOUND = vector_pb2.HybridSearchResponse(
    hits=[chunk_hit("c1")], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
)
OTHER_MODEL = vector_pb2.HybridSearchResponse(
    leg=legs_pb2.LegReport(
        status=legs_pb2.LEG_STATUS_DEGRADED, reason=legs_pb2.LEG_REASON_MODEL_MISMATCH
    )
)


async def ask(
    world: World,
    metadata: tuple[tuple[str, str], ...] = ALICE,
    *,
    use_vector: bool = True,
    seconds: float = 5,
) -> search_pb2.ComprehensiveSearchResponse:
    request = search_pb2.ComprehensiveSearchRequest(query="who owns it", use_vector=use_vector)
    return await world.search.ComprehensiveSearch(request, metadata=metadata, timeout=seconds)


def text_only_calls(world: World) -> list[bool]:
    return [request.text_only for request in world.graph.script.requests["SearchFacts"]]


async def test_after_an_answer_without_vectors_the_graph_is_searched_by_words(world: World) -> None:
    world.graph.answer = BY_WORDS
    await ask(world)
    answer = await ask(world)
    assert text_only_calls(world) == [False, True]
    assert answer.legs[1].status == legs_pb2.LEG_STATUS_OK


async def test_a_graph_only_query_is_not_embedded_if_facts_have_no_vectors(world: World) -> None:
    world.graph.answer = BY_WORDS
    await ask(world)
    world.embedder.texts.clear()
    await ask(world, use_vector=False)
    assert world.embedder.texts == []


async def test_vectors_added_since_the_last_search_are_compared_at_once(world: World) -> None:
    world.graph.answer = BY_WORDS
    await ask(world)

    async def answer_by_request(request: query_pb2.SearchFactsRequest) -> None:
        world.graph.answer = WITHOUT_QUERY_VECTOR if request.text_only else COMPARED

    world.graph.script.acts["SearchFacts"] = answer_by_request
    answer = await ask(world)
    assert text_only_calls(world) == [False, True, False]
    assert answer.legs[1].status == legs_pb2.LEG_STATUS_OK
    assert len(answer.graph_results) == 2
    await ask(world)
    assert text_only_calls(world) == [False, True, False, False]


@pytest.mark.parametrize(
    ("act", "outcome"),
    [
        (hang, ("TIMED_OUT", "BUDGET_EXCEEDED")),
        (fail(StoreUnavailableError("neo4j")), ("DEGRADED", "EMBEDDER_UNAVAILABLE")),
    ],
)
async def test_results_of_the_word_search_are_kept_when_the_second_call_fails(
    world: World, act: Act, outcome: tuple[str, str]
) -> None:
    world.graph.answer = BY_WORDS
    await ask(world)
    world.graph.answer = WITHOUT_QUERY_VECTOR

    async def answer_by_words(request: query_pb2.SearchFactsRequest) -> None:
        if not request.text_only:
            await act(request)

    world.graph.script.acts["SearchFacts"] = answer_by_words
    answer = await ask(world, seconds=1.5)
    assert legs(answer.legs)["graph"] == outcome
    assert [hit.fact.id for hit in answer.graph_results] == ["f1"]


async def test_waiting_for_the_query_vector_respects_the_remaining_deadline(world: World) -> None:
    world.graph.answer = BY_WORDS
    await ask(world)
    world.graph.answer = WITHOUT_QUERY_VECTOR
    world.embedder.stuck = True

    async def slowly(request: query_pb2.SearchFactsRequest) -> None:
        if request.text_only:
            await asyncio.sleep(0.6)

    world.graph.script.acts["SearchFacts"] = slowly
    answer = await ask(world, seconds=1)
    assert [hit.fact.id for hit in answer.graph_results] == ["f1"]


@pytest.mark.parametrize("first", [COMPARED, WITHOUT_QUERY_VECTOR])
async def test_a_space_with_vectors_always_receives_the_query_vector(
    world: World, first: query_pb2.SearchFactsResponse
) -> None:
    world.graph.answer = first
    await ask(world)
    await ask(world)
    assert text_only_calls(world) == [False, False]


async def test_one_space_without_vectors_does_not_affect_another(world: World) -> None:
    world.graph.answer = BY_WORDS
    await ask(world)
    await ask(world, BOB)
    assert text_only_calls(world) == [False, False]


async def test_the_vector_tier_embeds_the_query_when_only_it_needs_the_vector(
    world: World,
) -> None:
    world.graph.answer = BY_WORDS
    world.vector.answer = FOUND
    await ask(world)
    world.embedder.texts.clear()
    answer = await ask(world)
    request = world.vector.script.requests["HybridSearch"][-1]
    assert not request.HasField("query_embedding")
    assert not request.text_only
    assert world.embedder.texts == []
    assert answer.legs[0].status == legs_pb2.LEG_STATUS_OK


async def test_without_the_graph_leg_the_orchestrator_embeds_nothing(world: World) -> None:
    request = search_pb2.ComprehensiveSearchRequest(query="who owns it", use_graph=False)
    await world.search.ComprehensiveSearch(request, metadata=ALICE, timeout=5)
    assert world.embedder.texts == []


async def test_a_vector_tier_without_the_spaces_model_receives_the_orchestrators_vector(
    world: World,
) -> None:
    world.graph.answer = BY_WORDS
    await ask(world)

    async def answer_by_request(request: vector_pb2.HybridSearchRequest) -> None:
        given = request.HasField("query_embedding")
        world.vector.answer = FOUND if given else OTHER_MODEL

    world.vector.script.acts["HybridSearch"] = answer_by_request
    answer = await ask(world)
    assert answer.legs[0].status == legs_pb2.LEG_STATUS_OK
    assert (
        world.vector.script.requests["HybridSearch"][-1].query_embedding.embedding_model == "stub"
    )
