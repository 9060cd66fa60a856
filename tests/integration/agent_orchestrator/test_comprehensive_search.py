"""A comprehensive search queries both tiers, reports the status of each leg, and survives the failure of one."""

from __future__ import annotations

import asyncio
import time

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from braid.agent.v1.search_pb2 import ANSWER_PART_RESULTS
from braid.common.v1 import errors_pb2, legs_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.runtime.errors import (
    DeadlineError,
    EmbedderUnavailableError,
    FieldError,
    InvalidFieldError,
    OverloadedError,
    StoreUnavailableError,
    WrongStateError,
)
from tests.integration.agent_orchestrator.conftest import ALICE, World
from tests.integration.agent_orchestrator.searches import Request, ask, legs, refused
from tests.stubs.graph_tier import fact_hit
from tests.stubs.script import fail, hang
from tests.stubs.vector_tier import chunk_hit

CITED = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"


@pytest.fixture
def settings() -> dict[str, object]:
    return {"query_embedding_seconds": 0.2}


async def test_results_of_both_legs_are_fused(answers: World) -> None:
    answer = await ask(answers)
    assert [hit.chunk.id for hit in answer.vector_results] == ["c1", "c2"]
    assert [hit.fact.id for hit in answer.graph_results] == ["f1"]
    assert [result.id for result in answer.results] == ["c2", "c1"]
    assert answer.result_count == 3
    assert legs(answer.legs) == {"vector": ("OK", "UNSPECIFIED"), "graph": ("OK", "UNSPECIFIED")}
    assert [report.hit_count for report in answer.legs] == [2, 1]
    assert all(report.elapsed.ToNanoseconds() > 0 for report in answer.legs)


async def test_the_query_is_embedded_once_and_its_vector_is_sent_to_both_tiers(
    answers: World,
) -> None:
    await ask(answers)
    [hybrid] = answers.vector.script.requests["HybridSearch"]
    [facts] = answers.graph.script.requests["SearchFacts"]
    assert answers.embedder.texts == ["who owns it"]
    assert hybrid.query_embedding == facts.query_embedding
    assert hybrid.query_embedding.embedding_model == "stub"
    assert len(hybrid.query_embedding.values) == 4
    assert not hybrid.text_only
    assert not facts.text_only


async def test_the_tiers_are_called_with_the_callers_space_and_request_id(
    answers: World,
) -> None:
    metadata = (*ALICE, ("x-request-id", "question-1"))
    await answers.search.ComprehensiveSearch(Request(query="q"), metadata=metadata)
    for call in (*answers.vector.script.calls, *answers.graph.script.calls):
        assert (call.space, call.request_id) == ("alice", "question-1")


async def test_omitted_fields_have_the_defaults_of_the_contract(answers: World) -> None:
    await ask(answers)
    [hybrid] = answers.vector.script.requests["HybridSearch"]
    [facts] = answers.graph.script.requests["SearchFacts"]
    # An expansion starts from 20 results, whatever the limit.
    assert (hybrid.limit, hybrid.text_weight) == (20, 0.15)
    assert not hybrid.HasField("as_of")
    assert not facts.HasField("as_of")


async def test_request_options_are_passed_to_both_tiers(answers: World) -> None:
    instant = Timestamp(seconds=1_700_000_000)
    only = chunks_pb2.ChunkFilter(document_ids=["d1"])
    await ask(answers, Request(query="q", limit=7, text_weight=0, as_of=instant, filter=only))
    [hybrid] = answers.vector.script.requests["HybridSearch"]
    [facts] = answers.graph.script.requests["SearchFacts"]
    assert (hybrid.limit, hybrid.text_weight, hybrid.as_of, hybrid.filter) == (20, 0, instant, only)
    assert facts.as_of == retrieval_pb2.TimeSelector(instant=instant)


async def test_every_result_list_respects_the_limit(answers: World) -> None:
    answers.graph.answer.hits.extend([fact_hit("f2"), fact_hit("f3")])
    answer = await ask(answers, Request(query="q", limit=1))
    assert [hit.fact.id for hit in answer.graph_results] == ["f1"]
    assert len(answer.results) == 1
    assert [report.hit_count for report in answer.legs if report.leg == legs_pb2.LEG_GRAPH] == [1]


async def test_facts_beyond_the_limit_still_support_their_passages(answers: World) -> None:
    answers.graph.answer.hits.append(fact_hit("f2", ["c1"], support=0.4))
    answer = await ask(answers, Request(query="q", limit=1))
    assert [fact.id for fact in answer.results[0].facts] == ["f2"]


async def test_a_passage_found_only_through_a_fact_is_scored_like_any_other(
    answers: World,
) -> None:
    instant = Timestamp(seconds=1_700_000_000)
    answers.graph.answer.hits.append(fact_hit("f2", [CITED], support=0.2))
    cited = chunk_hit(CITED, content="the passage")
    answers.vector.scored[CITED] = vector_pb2.ChunkScore(
        chunk_id=CITED, score=0.6, chunk=cited.chunk, in_force=True
    )
    answer = await ask(answers, Request(query="q", text_weight=0.4, as_of=instant))
    [asked] = answers.vector.script.requests["ScoreChunks"]
    assert (list(asked.chunk_ids), asked.text_weight) == ([CITED], 0.4)
    assert (asked.include_chunks, asked.as_of) == (True, instant)
    [hybrid] = answers.vector.script.requests["HybridSearch"]
    assert asked.query_embedding == hybrid.query_embedding
    [found] = [result for result in answer.results if result.id == CITED]
    assert found.content == "the passage"
    assert found.score == pytest.approx(0.8)


@pytest.mark.parametrize("error", [StoreUnavailableError("postgres"), OverloadedError(0.5)])
async def test_when_scoring_fails_a_cited_passage_gets_the_score_of_its_fact(
    answers: World, error: Exception
) -> None:
    answers.graph.answer.hits.append(fact_hit("f2", [CITED], 0.9, support=0.2))
    answers.vector.script.acts["ScoreChunks"] = fail(error)
    answer = await ask(answers)
    assert {result.id for result in answer.results} == {"c1", "c2", CITED}
    assert [result.score for result in answer.results if result.id == CITED] == [0.9]


async def test_a_leg_without_results_reports_no_match(world: World) -> None:
    answer = await ask(world)
    assert legs(answer.legs) == {
        "vector": ("NO_MATCH", "UNSPECIFIED"),
        "graph": ("NO_MATCH", "UNSPECIFIED"),
    }
    assert answer.result_count == 0


@pytest.mark.parametrize(
    ("off", "asked", "left_out"),
    [("use_graph", "vector", "graph"), ("use_vector", "graph", "vector")],
)
async def test_a_disabled_leg_is_not_called(
    answers: World, off: str, asked: str, left_out: str
) -> None:
    request = Request(query="q")
    setattr(request, off, False)
    reported = legs((await ask(answers, request)).legs)
    assert reported[left_out] == ("DISABLED", "NOT_REQUESTED")
    assert reported[asked] == ("OK", "UNSPECIFIED")
    stub = answers.graph if left_out == "graph" else answers.vector
    assert stub.script.requests == {}


async def test_a_tiers_reported_status_is_passed_through(answers: World) -> None:
    answers.graph.answer.leg.status = legs_pb2.LEG_STATUS_DEGRADED
    answers.graph.answer.leg.reason = legs_pb2.LEG_REASON_INDEX_POPULATING
    reported = legs((await ask(answers)).legs)
    assert reported["graph"] == ("DEGRADED", "INDEX_POPULATING")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (StoreUnavailableError("neo4j"), "STORE_UNAVAILABLE"),
        (OverloadedError(0.5), "OVERLOADED"),
        (EmbedderUnavailableError(), "EMBEDDER_UNAVAILABLE"),
        (WrongStateError("another model"), "MODEL_MISMATCH"),
        (ValueError("a defect"), "INTERNAL"),
    ],
)
async def test_a_failed_leg_reports_its_reason_and_the_other_leg_answers(
    answers: World, error: Exception, reason: str
) -> None:
    answers.graph.script.acts["SearchFacts"] = fail(error)
    answer = await ask(answers)
    assert legs(answer.legs) == {"vector": ("OK", "UNSPECIFIED"), "graph": ("UNAVAILABLE", reason)}
    assert [result.id for result in answer.results] == ["c1", "c2"]


async def test_a_tiers_deadline_error_is_reported_as_timed_out(answers: World) -> None:
    answers.vector.script.acts["HybridSearch"] = fail(DeadlineError())
    reported = legs((await ask(answers)).legs)
    assert reported["vector"] == ("TIMED_OUT", "BUDGET_EXCEEDED")


async def test_a_hung_leg_times_out_within_the_callers_deadline(answers: World) -> None:
    answers.graph.script.acts["SearchFacts"] = hang
    started = time.monotonic()
    answer = await ask(answers, seconds=0.5)
    assert time.monotonic() - started < 0.5
    assert legs(answer.legs)["graph"] == ("TIMED_OUT", "BUDGET_EXCEEDED")
    assert [result.id for result in answer.results] == ["c1", "c2"]
    await asyncio.wait_for(answers.graph.script.cancelled.wait(), 2)


async def test_a_stopped_tier_fails_fast_and_recovers_within_five_seconds(
    answers: World,
) -> None:
    await ask(answers)
    await answers.stop_graph()
    started = time.monotonic()
    reported = legs((await ask(answers)).legs)
    assert reported == {
        "vector": ("OK", "UNSPECIFIED"),
        "graph": ("UNAVAILABLE", "SERVICE_UNAVAILABLE"),
    }
    assert time.monotonic() - started < 1
    await answers.start_graph()
    async with asyncio.timeout(5):
        while legs((await ask(answers)).legs)["graph"] != ("OK", "UNSPECIFIED"):  # noqa: ASYNC110 - its return has no event
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("trouble", ["away", "stuck"])
async def test_without_an_embedder_both_legs_search_by_words(answers: World, trouble: str) -> None:
    answers.vector.answer.embedding_model = "stub"
    await ask(answers, Request(query="q", use_graph=False))
    setattr(answers.embedder, trouble, True)
    answer = await ask(answers)
    hybrid = answers.vector.script.requests["HybridSearch"][-1]
    [facts] = answers.graph.script.requests["SearchFacts"]
    assert hybrid.text_only
    assert facts.text_only
    assert not hybrid.HasField("query_embedding")
    assert legs(answer.legs) == {
        "vector": ("DEGRADED", "EMBEDDER_UNAVAILABLE"),
        "graph": ("OK", "UNSPECIFIED"),
    }
    assert answer.result_count == 3


async def test_when_no_leg_answers_the_error_names_each_failed_leg(world: World) -> None:
    world.vector.script.acts["HybridSearch"] = fail(StoreUnavailableError("postgresql"))
    world.graph.script.acts["SearchFacts"] = hang
    error = await refused(world, seconds=0.5)
    assert error.reason == errors_pb2.ERROR_REASON_ALL_LEGS_FAILED
    assert error.metadata["vector"] == "UNAVAILABLE"
    assert error.metadata["graph"] == "TIMED_OUT"
    assert error.metadata["vector_reason"] == "STORE_UNAVAILABLE"
    assert error.retry_after is not None


async def test_the_search_fails_when_its_only_requested_leg_fails(answers: World) -> None:
    answers.graph.script.acts["SearchFacts"] = fail(StoreUnavailableError("neo4j"))
    error = await refused(answers, Request(query="q", use_vector=False))
    assert error.reason == errors_pb2.ERROR_REASON_ALL_LEGS_FAILED
    assert "vector" not in error.metadata


async def test_a_field_error_of_a_tier_is_returned_to_the_caller(answers: World) -> None:
    answers.graph.script.acts["SearchFacts"] = hang
    answers.vector.script.acts["HybridSearch"] = fail(
        InvalidFieldError(FieldError("filter.metadata", "must be flat"))
    )
    error = await refused(answers)
    assert error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert error.fields == (FieldError("filter.metadata", "must be flat"),)


async def test_a_query_vector_that_a_tier_rejects_is_omitted_from_a_second_call(
    answers: World,
) -> None:
    """The caller gave no vector, so an error about its field would mean nothing to them."""

    async def refuse(
        request: vector_pb2.HybridSearchRequest | query_pb2.SearchFactsRequest,
    ) -> None:
        if request.HasField("query_embedding"):
            raise InvalidFieldError(FieldError("query_embedding.values", "must have 4 values"))

    degraded, why = legs_pb2.LEG_STATUS_DEGRADED, legs_pb2.LEG_REASON_MODEL_MISMATCH
    answers.vector.answer = vector_pb2.HybridSearchResponse(
        hits=[chunk_hit("c1", 0.9)], leg=legs_pb2.LegReport(status=degraded, reason=why)
    )
    answers.graph.answer = query_pb2.SearchFactsResponse(
        hits=[fact_hit("f1", ["c1"])], leg=legs_pb2.LegReport(status=degraded, reason=why)
    )
    answers.vector.script.acts["HybridSearch"] = refuse
    answers.graph.script.acts["SearchFacts"] = refuse
    answer = await ask(answers)
    reported = ("DEGRADED", "MODEL_MISMATCH")
    assert legs(answer.legs) == {"vector": reported, "graph": reported}
    assert [result.id for result in answer.results] == ["c1"]
    asked = [*answers.vector.script.requests["HybridSearch"][1:]]
    asked += answers.graph.script.requests["SearchFacts"][1:]
    assert [(one.HasField("query_embedding"), one.text_only) for one in asked] == [
        (False, False),
        (False, False),
    ]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (Request(query=" "), "query"),
        (Request(query="q", limit=51), "limit"),
        (Request(query="q", text_weight=1.1), "text_weight"),
        (Request(query="q", use_vector=False, use_graph=False), "request"),
    ],
)
async def test_invalid_requests_are_rejected_before_any_tier_is_called(
    world: World, request_: Request, field: str
) -> None:
    error = await refused(world, request_)
    assert [f.field for f in error.fields] == [field]
    assert world.vector.script.requests == world.graph.script.requests == {}


async def test_canceling_the_call_cancels_both_legs(answers: World) -> None:
    answers.vector.script.acts["HybridSearch"] = hang
    answers.graph.script.acts["SearchFacts"] = hang
    call = answers.search.ComprehensiveSearch(Request(query="q"), metadata=ALICE)
    async with asyncio.timeout(5):
        await answers.vector.script.received("HybridSearch")
        await answers.graph.script.received("SearchFacts")
        call.cancel()
        await answers.vector.script.cancelled.wait()
        await answers.graph.script.cancelled.wait()


async def test_at_most_four_queries_are_embedded_at_once(answers: World) -> None:
    answers.graph.answer.vector_path = retrieval_pb2.VECTOR_PATH_INDEX
    await asyncio.gather(*(ask(answers, Request(query=f"q{n}")) for n in range(20)))
    assert len(answers.embedder.texts) == 20
    assert answers.embedder.most_at_once <= 4


async def test_an_answer_contains_only_the_requested_parts(answers: World) -> None:
    whole = await ask(answers)
    fused = await ask(answers, Request(query="who owns it", include=[ANSWER_PART_RESULTS]))
    assert [result.id for result in fused.results] == [result.id for result in whole.results]
    assert (len(fused.vector_results), len(fused.graph_results)) == (0, 0)
    assert (fused.result_count, legs(fused.legs)) == (3, legs(whole.legs))


@pytest.mark.parametrize("part", [0, 99])
async def test_an_unknown_answer_part_is_rejected(answers: World, part: int) -> None:
    error = await refused(answers, Request(query="q", include=[part]))  # type: ignore[list-item]
    assert [field for field, _ in error.fields] == ["include[0]"]
