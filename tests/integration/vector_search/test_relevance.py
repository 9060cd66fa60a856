"""Relevance scores and thresholds that callers rely on, with real vectors over real PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from braid.common.v1 import legs_pb2
from braid.vector.v1 import chunks_pb2, search_pb2
from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODELS
from services.models.embedding.relevance import DEFAULT_TEXT_WEIGHT, KNOWN, bend, unbend
from services.vector_search.postgres_store import PostgresStore
from tests.integration.vector_search.conftest import Tier
from tests.integration.vector_search.messages import document, upsert
from tests.integration.vector_search.test_service import bad_field

OURS = Tier.credential("ours")
FLOOR = KNOWN["all-MiniLM-L6-v2"].match_floor(6, DEFAULT_TEXT_WEIGHT)
TEXTS = {
    "broker": "NATS carries the events between the order service and the warehouse.",
    "freeze": "No deployments on Fridays after 16:00, unless the release manager agrees.",
    "owner": "The checkout service is owned by the payments team, led by Ines Costa.",
    "outage": "On 18 April the ledger was down for two hours: the disk of its database was full.",
    "laptops": "New colleagues get their laptop from the IT desk on the second floor.",
    "holidays": "Holidays are requested in the calendar, four weeks ahead.",
}
ANSWERED = {
    "What carries our events?": "broker",
    "May I deploy on a Friday evening?": "freeze",
    "Which team owns the checkout service?": "owner",
    "Why was the ledger down in April?": "outage",
    "Where do I get a laptop?": "laptops",
}
UNRELATED = [
    "zxqv blorp",
    "How long must sourdough bread be baked?",
    "Who won the football world cup in 1998?",
    "the migration patterns of arctic terns",
]


@pytest.fixture
async def embedder(tmp_path: Path) -> AsyncIterator[LocalEmbedder]:
    """The local model, for which the thresholds were chosen."""
    local = LocalEmbedder(LOCAL_MODELS["all-MiniLM-L6-v2"], tmp_path / "models", workers=1)
    yield local
    await local.close()


@pytest.fixture
async def office(tier: Tier) -> Tier:
    """A tier with a few documents, embedded by the local model."""
    for key, text in TEXTS.items():
        await tier.documents.UpsertDocument(upsert(document(key, text)), metadata=OURS)
    return tier


async def hybrid(tier: Tier, query: str, **more: object) -> search_pb2.HybridSearchResponse:
    """Returns the response of a hybrid search."""
    request = search_pb2.HybridSearchRequest(query=query, **more)  # type: ignore[arg-type]
    answer: search_pb2.HybridSearchResponse = await tier.search.HybridSearch(request, metadata=OURS)
    return answer


async def test_an_unrelated_query_has_no_match(office: Tier) -> None:
    for query in UNRELATED:
        answer = await hybrid(office, query)
        assert answer.leg.status == legs_pb2.LEG_STATUS_NO_MATCH, query
        assert not answer.hits
        assert answer.embedding_model == "all-MiniLM-L6-v2"
        assert answer.relevance_floor == pytest.approx(FLOOR)


async def test_a_query_that_the_space_answers_has_a_match_with_its_document_first(
    office: Tier,
) -> None:
    for query, document_id in ANSWERED.items():
        answer = await hybrid(office, query)
        assert answer.leg.status == legs_pb2.LEG_STATUS_OK, query
        assert answer.hits[0].chunk.document_id == document_id
        assert answer.hits[0].score >= answer.relevance_floor == pytest.approx(FLOOR)
        assert all(0.25 <= hit.score <= 1 for hit in answer.hits)


async def test_a_min_score_of_0_also_lists_irrelevant_results(office: Tier) -> None:
    for query in (*ANSWERED, *UNRELATED[1:]):
        answer = await hybrid(office, query, min_score=0.0)
        assert answer.leg.status == legs_pb2.LEG_STATUS_OK
        assert answer.relevance_floor == 0
        relevant = await hybrid(office, query)
        assert len(answer.hits) > len(relevant.hits)
        assert answer.hits[: len(relevant.hits)] == relevant.hits


async def test_text_only_and_reciprocal_rank_searches_have_no_relevance_floor(office: Tier) -> None:
    words = await hybrid(office, "zxqv blorp and other unheard things on the floor", text_only=True)
    assert [hit.chunk.document_id for hit in words.hits] == ["laptops"]
    assert words.hits[0].score < 0.30
    ranks = await hybrid(office, UNRELATED[1], fusion=chunks_pb2.FUSION_RECIPROCAL_RANK)
    assert ranks.leg.status == legs_pb2.LEG_STATUS_OK
    assert len(ranks.hits) == len(TEXTS)
    assert (words.relevance_floor, ranks.relevance_floor) == (0, 0)


async def test_score_chunks_returns_the_scores_of_a_search(office: Tier) -> None:
    for weight in (None, 0.0, 0.5, 1.0):
        for query in (*ANSWERED, *UNRELATED):
            hits = (await hybrid(office, query, min_score=0.0, text_weight=weight)).hits
            wanted = {hit.chunk.id: hit for hit in hits}
            assert wanted or query == UNRELATED[0] or weight == 1.0
            for chunk_id, hit in wanted.items():
                request = search_pb2.ScoreChunksRequest(
                    query=query, chunk_ids=[chunk_id], text_weight=weight
                )
                (scored,) = (await office.search.ScoreChunks(request, metadata=OURS)).scores
                assert scored.score == pytest.approx(hit.score)
                assert scored.scores.vector_fused == pytest.approx(hit.scores.vector_fused)
                assert scored.scores.text_fused == pytest.approx(hit.scores.text_fused)
                assert not scored.scores.HasField("vector_rank")
                assert not scored.HasField("chunk")


async def test_score_chunks_returns_the_chunks_as_of_the_requested_time(tier: Tier) -> None:
    for source, seconds in (("first edition", 1_000), ("second edition", 2_000)):
        new = document("d", TEXTS["owner"], source=source, valid_time=Timestamp(seconds=seconds))
        await tier.documents.UpsertDocument(upsert(new), metadata=OURS)
    chunk_id = document("d", TEXTS["owner"]).chunks[0].id
    for at, source in ((None, "second edition"), (1_500, "first edition"), (1, "second edition")):
        request = search_pb2.ScoreChunksRequest(
            query="checkout",
            chunk_ids=[chunk_id],
            include_chunks=True,
            as_of=None if at is None else Timestamp(seconds=at),
        )
        (scored,) = (await tier.search.ScoreChunks(request, metadata=OURS)).scores
        assert (scored.chunk.id, scored.chunk.content) == (chunk_id, TEXTS["owner"])
        assert scored.chunk.source == source


@pytest.mark.parametrize("include_chunks", [True, False])
@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("text_weight", {"text_weight": 1.1}),
        ("text_weight", {"text_weight": -0.1}),
        ("text_weight", {"text_weight": float("nan")}),
        ("as_of", {"as_of": Timestamp(seconds=10**15)}),
    ],
)
async def test_an_invalid_score_request_is_refused_naming_the_field(
    tier: Tier, field: str, more: dict[str, object], include_chunks: bool
) -> None:
    request = search_pb2.ScoreChunksRequest(
        query="x",
        chunk_ids=[document("d", "x").chunks[0].id],
        include_chunks=include_chunks,
        **more,  # type: ignore[arg-type]
    )
    assert await bad_field(tier.search.ScoreChunks(request, metadata=OURS)) == field


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(total=st.floats(-10, 4) | st.floats(-1e6, 1e6))
async def test_the_database_computes_relevance_as_the_services_do(
    total: float, store: PostgresStore
) -> None:
    async with store.pools[1].session() as session:
        row = await session.row("select relevance($1) as score", total)
    assert row is not None
    assert row["score"] == pytest.approx(bend(total), rel=1e-12)
    if 0 <= total <= 4:
        assert unbend(row["score"]) == pytest.approx(total, rel=1e-6)
