"""Findings over gRPC: added, found by their fields, refused naming the field, and deleted with their episodes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest

from braid.common.v1 import errors_pb2, legs_pb2, retrieval_pb2
from braid.graph.internal.v1 import deletion_pb2
from braid.graph.v1 import findings_pb2, ingest_pb2, query_pb2
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import episode
from tests.store_suite.graph.builders import unit

Call = Callable[[Tier], Awaitable[Any]]


def finding(statement: str = "It fails", **more: Any) -> findings_pb2.FindingInput:
    """A finding, with its own fields and those of every kind."""
    names = findings_pb2.FindingDetails.DESCRIPTOR.fields_by_name
    parameters = {name: more.pop(name) for name in list(more) if name in names}
    details = findings_pb2.FindingDetails(key_insight=statement, **parameters)
    return findings_pb2.FindingInput(finding=details, **more)


def outcome(**more: Any) -> findings_pb2.FindingInput:
    """An outcome."""
    return findings_pb2.FindingInput(outcome=findings_pb2.OutcomeDetails(result="Moved", **more))


def adding(*given: findings_pb2.FindingInput, **more: Any) -> Call:
    request = findings_pb2.AddFindingsRequest(findings=given, **more)
    return lambda tier: tier.ingest.AddFindings(request, metadata=tier.ours)


def searching(query: str = "", **more: Any) -> Call:
    request = findings_pb2.SearchFindingsRequest(query=query, **more)
    return lambda tier: tier.query.SearchFindings(request, metadata=tier.ours)


def only(**fields: Any) -> Call:
    return searching(filter=findings_pb2.FindingFilter(**fields))


def insights(answer: findings_pb2.SearchFindingsResponse) -> list[str]:
    return [hit.finding.finding.key_insight for hit in answer.hits]


async def test_a_finding_is_found_by_meaning_words_and_confidence(tier: Tier) -> None:
    note = episode("note", "Payments", "Payments fail at night.")
    await tier.ingest.AddEpisode(ingest_pb2.AddEpisodeRequest(episode=note), metadata=tier.ours)
    sure = finding(
        "Night jobs starve payments",
        type="cause",
        confidence=0.93,
        methodology="log review",
        external_id="cause-1",
        about_entities=[findings_pb2.FindingSubject(name="payments")],
        chunk_ids=[note.chunk_id],
    )
    added = await adding(sure, finding("Perhaps it is the network", confidence=0.9))(tier)
    assert (added.added_count, added.without_vector_count) == (2, 0)
    above = findings_pb2.NumberRange(greater_than=0.9)
    answer = await searching(
        "what starves payments", filter=findings_pb2.FindingFilter(confidence=above)
    )(tier)
    (hit,) = answer.hits
    assert (answer.leg.status, answer.vector_path) == (
        legs_pb2.LEG_STATUS_OK,
        retrieval_pb2.VECTOR_PATH_EXACT,
    )
    assert (hit.finding.finding.confidence, hit.finding.external_id) == (0.93, "cause-1")
    assert (hit.scores.text_rank, hit.scores.vector_rank) == (1, 1)
    assert [end.name for end in hit.finding.about_entities] == ["Payments"]
    assert hit.finding.about_entities[0].id
    assert [cited.document_id for cited in hit.finding.sources] == ["note"]
    assert hit.finding.sources[0].source == "note.md"


async def test_intents_and_outcomes_keep_their_fields(tier: Tier) -> None:
    goal = findings_pb2.IntentDetails(
        goal="Move", status="Active", priority=findings_pb2.INTENT_PRIORITY_HIGH, owner="Anna"
    )
    metric = findings_pb2.Metric(name="Delay", value=2.5, unit="days")
    result = outcome(metrics=[metric], blockers=["No staging"])
    result.about_finding_ids.append("move")
    await adding(findings_pb2.FindingInput(external_id="move", intent=goal), result)(tier)
    answer = await only(about_finding_id="move")(tier)
    assert answer.hits[0].finding.outcome == result.outcome
    answer = await only(ids=["move"])(tier)
    assert answer.hits[0].finding.intent == goal


async def test_pages_are_contiguous_and_their_tokens_valid_only_for_their_filter(
    tier: Tier,
) -> None:
    await adding(*(finding(f"F{n}") for n in range(5)))(tier)
    first = await searching(page_size=3)(tier)
    rest = await searching(page_size=3, page_token=first.next_page_token)(tier)
    assert {*insights(first), *insights(rest)} == {f"F{n}" for n in range(5)}
    assert rest.next_page_token == ""
    other = findings_pb2.FindingFilter(type="x")
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await searching(page_token=first.next_page_token, filter=other)(tier)
    assert [wrong.field for wrong in error_from_rpc(failed.value).fields] == ["page_token"]


async def test_a_text_only_search_uses_no_embedder(tier: Tier) -> None:
    await adding(finding("Payments starve"))(tier)
    answer = await searching("payments", text_only=True)(tier)
    assert insights(answer) == ["Payments starve"]
    assert answer.leg.reason == legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE
    assert (await searching("payments")(tier)).leg.status == legs_pb2.LEG_STATUS_OK


async def test_deleting_an_episode_deletes_only_the_findings_from_it(tier: Tier) -> None:
    note = episode("note", "Payments", "Payments fail at night.")
    await tier.ingest.AddEpisode(ingest_pb2.AddEpisodeRequest(episode=note), metadata=tier.ours)
    await adding(finding("From it", chunk_ids=[note.chunk_id]), finding("From elsewhere"))(tier)
    gone = await tier.deletion.DeleteEpisodes(
        deletion_pb2.DeleteEpisodesRequest(chunk_ids=[note.chunk_id]), metadata=tier.ours
    )
    assert gone.deleted_finding_count == 1
    assert insights(await searching()(tier)) == ["From elsewhere"]


async def test_findings_of_another_space_are_neither_found_nor_linked(tier: Tier) -> None:
    added = await adding(finding("Ours", external_id="ours"))(tier)
    request = findings_pb2.SearchFindingsRequest(
        filter=findings_pb2.FindingFilter(ids=[added.finding_ids[0], "ours"])
    )
    theirs = await tier.query.SearchFindings(request, metadata=tier.theirs)
    assert (list(theirs.hits), theirs.leg.status) == ([], legs_pb2.LEG_STATUS_NO_MATCH)
    about = findings_pb2.AddFindingsRequest(
        findings=[finding(about_finding_ids=[added.finding_ids[0]])]
    )
    refused = await tier.ingest.AddFindings(about, metadata=tier.theirs)
    assert (refused.added_count, [one.index for one in refused.refused]) == (0, [0])


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (adding(), "findings"),
        (adding(findings_pb2.FindingInput(external_id="x")), "findings[0].details"),
        (adding(finding(" \n")), "findings[0].finding.key_insight"),
        (adding(finding("x" * 4_097)), "findings[0].finding.key_insight"),
        (adding(finding(confidence=1.1)), "findings[0].finding.confidence"),
        (adding(finding(confidence=float("nan"))), "findings[0].finding.confidence"),
        (adding(finding(type="a\x00b")), "findings[0].finding.type"),
        (adding(finding(chunk_ids=["nonsense"])), "findings[0].chunk_ids[0]"),
        (adding(finding(embedding=[1.0, 0.0]), embedding_model="model"), "findings[0].embedding"),
        (adding(finding(embedding=[0.0] * 384), embedding_model="model"), "findings[0].embedding"),
        (adding(finding(embedding=unit(1))), "embedding_model"),
        (
            adding(outcome(metrics=[findings_pb2.Metric(name=n, value=1) for n in ("A", "a ")])),
            "findings[0].outcome.metrics",
        ),
        (
            adding(outcome(metrics=[findings_pb2.Metric(name="A", value=float("inf"))])),
            "findings[0].outcome.metrics[0].value",
        ),
        (searching("a\x00b"), "query"),
        (searching("x" * 4_097), "query"),
        (searching(page_size=-1), "page_size"),
        (searching(page_token="nonsense"), "page_token"),
        (searching("words", page_token="nonsense"), "page_token"),
        (only(kinds=[0]), "filter.kinds[0]"),
        (only(chunk_id="nonsense"), "filter.chunk_id"),
    ],
)
async def test_invalid_input_is_refused_naming_the_field_and_changes_nothing(
    tier: Tier, call: Call, field: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call(tier)
    error = error_from_rpc(failed.value)
    assert error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert [wrong.field for wrong in error.fields] == [field]
    stats = await tier.query.GetGraphStats(query_pb2.GetGraphStatsRequest(), metadata=tier.ours)
    assert stats.space_revision == 0


async def test_a_query_vector_of_the_wrong_dimension_is_refused_naming_the_field(
    tier: Tier,
) -> None:
    await adding(finding())(tier)
    given = retrieval_pb2.QueryEmbedding(embedding_model="model", values=[1.0])
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await searching("words", query_embedding=given)(tier)
    wrong = error_from_rpc(failed.value).fields
    assert [one.field for one in wrong] == ["query_embedding.values"]
