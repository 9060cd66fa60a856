"""Invalid input is refused naming the field and changes nothing; text that looks like a query is treated as text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import grpc
import pytest

from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2, query_pb2
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import episode, fact, stream

HOSTILE = [
    ".*",
    "') MATCH (n) DETACH DELETE n //",
    "`; DROP",
    'a" OR group_id:"b',
    "AND OR NOT (",
    "\\",
    "x" * 1_000,
    "[TO]^~*?:/",
]
Call = Callable[[Tier], Awaitable[object]]


def search(**fields: object) -> Call:
    request = query_pb2.SearchFactsRequest(**{"query": "words", **fields})  # type: ignore[arg-type]
    return lambda tier: tier.query.SearchFacts(request, metadata=tier.ours)


def listing(**fields: object) -> Call:
    request = query_pb2.ListEntitiesRequest(**fields)  # type: ignore[arg-type]
    return lambda tier: tier.query.ListEntities(request, metadata=tier.ours)


def neighborhood(**fields: object) -> Call:
    request = query_pb2.GetNeighborhoodRequest(**fields)  # type: ignore[arg-type]
    return lambda tier: tier.query.GetNeighborhood(request, metadata=tier.ours)


def adding(**fields: object) -> Call:
    result = episode("d", "t", "text")
    for name, value in fields.items():
        setattr(result, name, value)
    request = ingest_pb2.AddEpisodeRequest(episode=result)
    return lambda tier: tier.ingest.AddEpisode(request, metadata=tier.ours)


def stating(one: ingest_pb2.FactInput) -> Call:
    return lambda tier: tier.ingest.AddFacts(stream(one), metadata=tier.ours)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (search(query=""), "query"),
        (search(query=" \n"), "query"),
        (search(query="x" * 1_000_000), "query"),
        (search(query="a\x00b"), "query"),
        (search(limit=0), "limit"),
        (search(limit=51), "limit"),
        (search(limit=-1), "limit"),
        (neighborhood(entity_name=""), "entity_name"),
        (neighborhood(entity_name="x", limit=101), "limit"),
        (listing(page_size=-1), "page_size"),
        (listing(page_token="nonsense"), "page_token"),
        (adding(chunk_id="nonsense"), "episode.chunk_id"),
        (adding(content=""), "episode.content"),
        (adding(content="a\x00b"), "episode.content"),
        (adding(content="x" * 32_769), "episode.content"),
        (adding(document_id=""), "episode.document_id"),
        (stating(fact("a", "DROP; --", "b")), "facts[0].relation_type"),
        (stating(fact("", "IS", "b")), "facts[0].subject.name"),
        (stating(fact("a", "IS", "b", subject_type="a`b")), "facts[0].subject.type"),
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
    assert (stats.space_revision, stats.entity_count) == (0, 0)


async def test_the_same_chunk_twice_in_a_batch_is_refused(tier: Tier) -> None:
    one = episode("d", "t", "text")
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await tier.ingest.BatchAddEpisodes(
            ingest_pb2.BatchAddEpisodesRequest(episodes=[one, one]), metadata=tier.ours
        )
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("text", HOSTILE)
async def test_text_that_looks_like_a_query_is_treated_as_text(tier: Tier, text: str) -> None:
    await tier.ingest.AddFacts(stream(fact("Anna Bell", "KNOWS", "Karl Otto")), metadata=tier.ours)
    await search(query=text, entity_name=text, relation_type=text[:200])(tier)
    await search(query=text)(tier)
    await listing(type=text[:200])(tier)
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await neighborhood(entity_name=text)(tier)
    assert error_from_rpc(failed.value).reason == errors_pb2.ERROR_REASON_NOT_FOUND
    assert text not in str(failed.value.details())
    stats = await tier.query.GetGraphStats(query_pb2.GetGraphStatsRequest(), metadata=tier.ours)
    assert (stats.entity_count, stats.fact_count) == (2, 1)


@pytest.mark.parametrize("text", HOSTILE)
async def test_any_name_is_stored_unchanged_and_any_title_is_accepted(
    tier: Tier, text: str
) -> None:
    request = ingest_pb2.AddEpisodeRequest(episode=episode("d", text, f"It says {text} here."))
    await tier.ingest.AddEpisode(request, metadata=tier.ours)
    await tier.ingest.AddFacts(stream(fact(text, "IS", "Odd Name")), metadata=tier.ours)
    found = await tier.query.GetNeighborhood(
        query_pb2.GetNeighborhoodRequest(entity_name=text), metadata=tier.ours
    )
    assert found.center.name == text
    assert "Odd Name" in [node.name for node in found.nodes]
