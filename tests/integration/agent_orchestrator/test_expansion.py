"""Search expansion: the passages that it adds, what it reports, and the results without a graph."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from braid.agent.v1 import search_pb2
from braid.common.v1 import errors_pb2, expansion_pb2, legs_pb2, reranking_pb2
from braid.graph.v1 import entities_pb2, facts_pb2, structure_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.runtime.errors import StoreUnavailableError
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, World
from tests.integration.agent_orchestrator.searches import Request, ask, refused
from tests.stubs.script import fail, hang

FILM, SIMILAR, WEAK, DIRECTOR = (
    str(uuid.uuid5(uuid.NAMESPACE_URL, name)) for name in ("film", "similar", "weak", "director")
)
ANNA, THE_FILM = (str(uuid.uuid5(uuid.NAMESPACE_URL, name)) for name in ("anna", "the film"))
SCORES = {FILM: 0.6, SIMILAR: 0.5, WEAK: 0.3, DIRECTOR: 0.2}
Options = expansion_pb2.ExpansionOptions
HybridRequest = search_pb2.ExpandedHybridSearchRequest


@pytest.fixture
def settings() -> dict[str, object]:
    return {"leg_seconds": 1.0, "expansion_seconds": 0.4}


def chunk(chunk_id: str) -> chunks_pb2.Chunk:
    return chunks_pb2.Chunk(
        id=chunk_id, document_id=f"doc-{chunk_id}", document_title="Title", content="text"
    )


def script(world: World, *, in_force: Iterable[str] = SCORES) -> None:
    """Scripts a film's passage that names its director; no search finds the director's own passage."""
    world.vector.answer = vector_pb2.HybridSearchResponse(
        leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK),
        hits=[
            chunks_pb2.ChunkHit(
                chunk=chunk(one),
                score=SCORES[one],
                scores=chunks_pb2.ChunkScores(vector=SCORES[one]),
            )
            for one in (FILM, SIMILAR, WEAK)
        ],
    )
    world.vector.scored = {
        one: vector_pb2.ChunkScore(
            chunk_id=one,
            chunk=chunk(one),
            score=score,
            scores=chunks_pb2.ChunkScores(vector=score),
            in_force=one in set(in_force),
        )
        for one, score in SCORES.items()
    }
    world.graph.linked = entities_pb2.LinkEntitiesResponse(
        entities=[entities_pb2.LinkedEntity(entity=facts_pb2.Entity(id=THE_FILM), titled=True)]
    )
    world.graph.subgraph = structure_pb2.GetMentionSubgraphResponse(
        episodes=[
            structure_pb2.SubgraphEpisode(chunk_id=one, seed=one != DIRECTOR) for one in SCORES
        ],
        entities=[
            structure_pb2.SubgraphEntity(id=ANNA, name="Anna Bell", mention_count=2, titled=True),
            structure_pb2.SubgraphEntity(
                id=THE_FILM, name="The Film", mention_count=1, titled=True
            ),
        ],
        mentions=[
            structure_pb2.SubgraphMention(
                episode=0, entity=1, kind=structure_pb2.MENTION_KIND_ABOUT
            ),
            structure_pb2.SubgraphMention(
                episode=0, entity=0, kind=structure_pb2.MENTION_KIND_NAME
            ),
            structure_pb2.SubgraphMention(
                episode=3, entity=0, kind=structure_pb2.MENTION_KIND_ABOUT
            ),
        ],
    )


async def expanded(
    world: World, mode: expansion_pb2.ExpansionMode.ValueType, limit: int = 10
) -> search_pb2.ExpandedHybridSearchResponse:
    request = HybridRequest(
        search=vector_pb2.HybridSearchRequest(query="q", limit=limit), expansion=Options(mode=mode)
    )
    return await world.search.ExpandedHybridSearch(request, metadata=ALICE, timeout=5)


async def test_the_comprehensive_search_adds_a_passage_that_no_leg_finds(world: World) -> None:
    script(world)
    answer = await ask(world)
    assert [one.id for one in answer.results] == [FILM, DIRECTOR, SIMILAR, WEAK]
    scores = [one.score for one in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for one in answer.results:
        assert sum(part.share for part in one.contributions) == pytest.approx(one.score)
    reached = answer.results[1]
    assert (reached.document_id, reached.content) == (f"doc-{DIRECTOR}", "text")
    assert [part.leg for part in reached.contributions] == [
        legs_pb2.LEG_VECTOR,
        legs_pb2.LEG_EXPANSION,
    ]
    [step] = reached.expansion.steps
    assert (reached.expansion.seed_id, reached.expansion.depth) == (FILM, 1)
    assert (step.relation_type, step.entity, step.target_id) == ("MENTIONS", "Anna Bell", DIRECTOR)
    report = answer.expansion
    assert report.mode == expansion_pb2.EXPANSION_MODE_QUERY_AWARE
    assert report.status == legs_pb2.LEG_STATUS_OK
    assert (report.initial_count, report.expanded_count, report.new_count) == (3, 4, 1)
    assert (report.incident_relation_count, report.utilisation) == (2, 1.0)
    assert report.elapsed.ToNanoseconds() > 0


async def test_mode_none_disables_expansion_and_makes_no_further_calls(world: World) -> None:
    script(world)
    off = Options(mode=expansion_pb2.EXPANSION_MODE_NONE)
    answer = await ask(world, Request(query="q", expansion=off))
    assert [one.id for one in answer.results] == [FILM, SIMILAR, WEAK]
    assert not answer.HasField("expansion")
    assert "LinkEntities" not in world.graph.script.requests
    assert "GetMentionSubgraph" not in world.graph.script.requests


async def test_without_the_graph_leg_results_are_expanded_only_on_request(world: World) -> None:
    script(world)
    assert not (await ask(world, Request(query="q", use_graph=False))).HasField("expansion")
    options = Options(mode=expansion_pb2.EXPANSION_MODE_PAGERANK)
    answer = await ask(world, Request(query="q", use_graph=False, expansion=options))
    assert answer.results[1].id == DIRECTOR


async def test_the_first_results_do_not_depend_on_the_limit(world: World) -> None:
    script(world)
    whole = await ask(world, Request(query="q", limit=50))
    for limit in range(1, 5):
        answer = await ask(world, Request(query="q", limit=limit))
        assert list(answer.results) == list(whole.results)[:limit]


async def test_a_passage_that_is_not_valid_at_the_requested_time_is_not_added(world: World) -> None:
    script(world, in_force=[FILM, SIMILAR, WEAK])
    instant = Timestamp(seconds=1_700_000_000)
    answer = await ask(world, Request(query="q", as_of=instant))
    assert DIRECTOR not in [one.id for one in answer.results]
    assert world.graph.script.requests["GetMentionSubgraph"][0].as_of == instant
    assert world.vector.script.requests["ScoreChunks"][0].as_of == instant


async def test_added_passages_must_match_the_filter_of_the_search(world: World) -> None:
    script(world)
    only = chunks_pb2.ChunkFilter(document_ids=[f"doc-{one}" for one in (FILM, SIMILAR, WEAK)])
    answer = await ask(world, Request(query="q", filter=only))
    assert [one.id for one in answer.results] == [FILM, SIMILAR, WEAK]


async def test_an_empty_result_is_not_expanded(world: World) -> None:
    script(world)
    world.vector.answer = vector_pb2.HybridSearchResponse(
        leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_NO_MATCH)
    )
    answer = await ask(world)
    assert not answer.results
    assert answer.expansion.status == legs_pb2.LEG_STATUS_NO_MATCH


@pytest.mark.parametrize("call", ["LinkEntities", "GetMentionSubgraph"])
async def test_a_failed_graph_call_leaves_the_results_unexpanded_and_is_reported(
    world: World, call: str
) -> None:
    script(world)
    world.graph.script.acts[call] = fail(StoreUnavailableError("neo4j"))
    answer = await ask(world)
    assert [one.id for one in answer.results] == [FILM, SIMILAR, WEAK]
    assert answer.expansion.status == legs_pb2.LEG_STATUS_DEGRADED
    assert answer.expansion.reason == legs_pb2.LEG_REASON_STORE_UNAVAILABLE
    assert {leg.leg: leg.status for leg in answer.legs}[
        legs_pb2.LEG_VECTOR
    ] == legs_pb2.LEG_STATUS_OK


async def test_a_late_expansion_is_abandoned_at_its_budget_and_is_reported(world: World) -> None:
    script(world)
    world.graph.script.acts["GetMentionSubgraph"] = hang
    answer = await ask(world)
    assert [one.id for one in answer.results] == [FILM, SIMILAR, WEAK]
    assert answer.expansion.status == legs_pb2.LEG_STATUS_DEGRADED
    assert answer.expansion.reason == legs_pb2.LEG_REASON_BUDGET_EXCEEDED
    assert answer.expansion.elapsed.ToTimedelta().total_seconds() < 1.0


async def test_an_unavailable_graph_leaves_hybrid_hits_unexpanded(world: World) -> None:
    script(world)
    await world.stop_graph()
    answer = await expanded(world, expansion_pb2.EXPANSION_MODE_QUERY_AWARE)
    assert [one.hit.chunk.id for one in answer.hits] == [FILM, SIMILAR, WEAK]
    assert answer.leg.status == legs_pb2.LEG_STATUS_OK
    assert answer.expansion.status == legs_pb2.LEG_STATUS_DEGRADED
    assert answer.expansion.reason == legs_pb2.LEG_REASON_SERVICE_UNAVAILABLE


async def test_hybrid_hits_are_expanded_only_on_request(world: World) -> None:
    script(world)
    plain = await expanded(world, expansion_pb2.EXPANSION_MODE_UNSPECIFIED)
    assert [one.hit.chunk.id for one in plain.hits] == [FILM, SIMILAR, WEAK]
    assert not plain.HasField("expansion")
    found = await expanded(world, expansion_pb2.EXPANSION_MODE_QUERY_AWARE, limit=2)
    assert [one.hit.chunk.id for one in found.hits] == [FILM, DIRECTOR]
    assert found.hits[1].hit.scores.vector == pytest.approx(0.2)
    assert found.hits[1].expansion.seed_id == FILM
    assert (found.expansion.new_count, found.expansion.dropped_count) == (1, 1)


async def test_facts_connect_passages_that_do_not_name_their_entities(world: World) -> None:
    script(world)
    del world.graph.subgraph.mentions[1:]
    world.graph.subgraph.statements.extend(
        structure_pb2.SubgraphStatement(
            episode=episode, entity=0, relation_type="DIRECTED_BY", fact_id=ANNA
        )
        for episode in (0, 3)
    )
    answer = await ask(world)
    assert answer.results[1].id == DIRECTOR
    assert [one.relation_type for one in answer.results[1].expansion.steps] == ["DIRECTED_BY"]


async def test_only_requested_relation_types_are_followed(world: World) -> None:
    script(world)
    options = Options(mode=expansion_pb2.EXPANSION_MODE_QUERY_AWARE, relation_types=["directed_by"])
    answer = await ask(world, Request(query="q", expansion=options))
    assert DIRECTOR not in [one.id for one in answer.results]


@pytest.mark.parametrize("hybrid", [False, True])
async def test_traversal_time_selects_relations_and_as_of_selects_documents(
    world: World, *, hybrid: bool
) -> None:
    script(world)
    then, now = Timestamp(seconds=1_500_000_000), Timestamp(seconds=1_700_000_000)
    options = Options(mode=expansion_pb2.EXPANSION_MODE_QUERY_AWARE, traversal_time=then)
    if hybrid:
        request = HybridRequest(
            search=vector_pb2.HybridSearchRequest(query="q", as_of=now), expansion=options
        )
        await world.search.ExpandedHybridSearch(request, metadata=ALICE, timeout=5)
    else:
        await ask(world, Request(query="q", as_of=now, expansion=options))
    assert world.graph.script.requests["GetMentionSubgraph"][0].as_of == then
    assert {one.as_of.seconds for one in world.vector.script.requests["ScoreChunks"]} == {
        now.seconds
    }


async def test_a_second_hop_starts_from_the_passages_of_the_first(world: World) -> None:
    script(world)
    options = Options(mode=expansion_pb2.EXPANSION_MODE_QUERY_AWARE, max_hops=2)
    await ask(world, Request(query="q", expansion=options))
    first, second = world.graph.script.requests["GetMentionSubgraph"]
    assert set(first.chunk_ids) == {FILM, SIMILAR, WEAK}
    assert set(second.chunk_ids) == {FILM, SIMILAR, WEAK, DIRECTOR}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (Options(max_hops=4), "expansion.max_hops"),
        (Options(max_hops=0), "expansion.max_hops"),
        (Options(min_strength=1.5), "expansion.min_strength"),
        (Options(factor=-0.1), "expansion.factor"),
        (Options(max_degree=1001), "expansion.max_degree"),
        (
            Options(mode=expansion_pb2.EXPANSION_MODE_FORMULA, relation_types=["LIKES"]),
            "expansion.relation_types[0]",
        ),
    ],
)
@pytest.mark.parametrize("found", [True, False])
async def test_invalid_options_are_field_errors_even_without_results(
    world: World, options: Options, field: str, *, found: bool
) -> None:
    if found:
        script(world)
    error = await refused(world, Request(query="q", expansion=options))
    assert error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert [one.field for one in error.fields] == [field]
    asked = HybridRequest(search=vector_pb2.HybridSearchRequest(query="q"), expansion=options)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await world.search.ExpandedHybridSearch(asked, metadata=ALICE, timeout=5)
    assert [one.field for one in error_from_rpc(caught.value).fields] == [field]


async def test_a_reranker_reorders_before_the_expansion(world: World) -> None:
    script(world)
    answer = await ask(world, Request(query="q", rerank=reranking_pb2.RERANK_MODE_LOCAL))
    assert answer.reranking.status == legs_pb2.LEG_STATUS_OK
    legs = [part.leg for part in answer.results[0].contributions]
    assert legs == [legs_pb2.LEG_VECTOR, legs_pb2.LEG_RERANK, legs_pb2.LEG_EXPANSION]


async def test_an_unconfigured_reranker_is_rejected(world: World) -> None:
    script(world)
    request = HybridRequest(
        search=vector_pb2.HybridSearchRequest(query="q"),
        rerank=reranking_pb2.RERANK_MODE_CROSS_ENCODER,
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await world.search.ExpandedHybridSearch(request, metadata=ALICE, timeout=5)
    assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert error_from_rpc(caught.value).reason == errors_pb2.ERROR_REASON_WRONG_STATE


async def test_facts_of_an_added_passage_are_listed_with_it(world: World) -> None:
    script(world)
    stated = facts_pb2.FactHit(
        fact=facts_pb2.Fact(
            id=ANNA, statement="Anna Bell directed it", origin=facts_pb2.FACT_ORIGIN_GIVEN
        )
    )
    stated.fact.sources.add(chunk_id=DIRECTOR)
    world.graph.answer.leg.status = legs_pb2.LEG_STATUS_OK
    world.graph.answer.hits.append(stated)
    answer = await ask(world)
    found = next(one for one in answer.results if one.id == DIRECTOR)
    assert [one.id for one in found.facts] == [ANNA]
