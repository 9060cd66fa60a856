"""SearchFacts over gRPC: rerankers, facts as known at a time, and filters that few facts pass."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import errors_pb2, legs_pb2
from braid.graph.internal.v1 import deletion_pb2
from braid.graph.v1 import ingest_pb2, query_pb2
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import episode, fact, stamp, stream


async def search(tier: Tier, query: str = "payments", **more: Any) -> query_pb2.SearchFactsResponse:
    request = query_pb2.SearchFactsRequest(query=query, **more)
    return await tier.query.SearchFacts(request, metadata=tier.ours)


async def refusal(tier: Tier, **more: Any) -> errors_pb2.ErrorReason.ValueType:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await search(tier, **more)
    return error_from_rpc(failed.value).reason


def targets(answer: query_pb2.SearchFactsResponse) -> list[str]:
    return [hit.fact.object.name for hit in answer.hits]


async def add_chain(tier: Tier) -> None:
    """Adds facts: Payments needs Ledger, Ledger needs Vault."""
    facts = [fact("Payments", "NEEDS", "Ledger"), fact("Ledger", "NEEDS", "Vault")]
    await tier.ingest.AddFacts(stream(*facts), metadata=tier.ours)


async def test_a_response_reports_the_reranker_that_was_used(tier: Tier) -> None:
    await add_chain(tier)
    plain = await search(tier, "needs")
    assert plain.reranker == query_pb2.FACT_RERANKER_RRF
    assert not plain.hits[0].scores.HasField("rerank")
    near = await search(
        tier,
        "payments needs",
        reranker=query_pb2.FACT_RERANKER_NODE_DISTANCE,
        center_entity_name="VAULT",
    )
    assert near.reranker == query_pb2.FACT_RERANKER_NODE_DISTANCE
    assert targets(near) == ["Vault", "Ledger"]
    assert [hit.scores.rerank for hit in near.hits] == [1.0, 0.5]
    varied = await search(tier, "needs", reranker=query_pb2.FACT_RERANKER_MMR, mmr_lambda=0.2)
    assert varied.reranker == query_pb2.FACT_RERANKER_MMR
    assert {*targets(varied)} == {"Ledger", "Vault"}


async def test_a_reranker_that_cannot_be_used_is_refused_with_its_reason(tier: Tier) -> None:
    await add_chain(tier)
    distance = query_pb2.FACT_RERANKER_NODE_DISTANCE
    assert await refusal(tier, reranker=distance) == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert (
        await refusal(tier, reranker=distance, center_entity_name="`x`] DETACH DELETE n //")
        == errors_pb2.ERROR_REASON_NOT_FOUND
    )
    cross = query_pb2.FACT_RERANKER_CROSS_ENCODER
    assert await refusal(tier, reranker=cross) == errors_pb2.ERROR_REASON_WRONG_STATE
    assert await refusal(tier, mmr_lambda=1.5) == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert await refusal(tier, reranker=99) == errors_pb2.ERROR_REASON_INVALID_FIELD


async def test_a_center_entity_of_another_space_is_not_found(tier: Tier) -> None:
    await add_chain(tier)
    request = query_pb2.SearchFactsRequest(
        query="needs",
        reranker=query_pb2.FACT_RERANKER_NODE_DISTANCE,
        center_entity_name="Vault",
    )
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await tier.query.SearchFacts(request, metadata=tier.theirs)
    assert error_from_rpc(failed.value).reason == errors_pb2.ERROR_REASON_NOT_FOUND


async def test_a_search_as_known_at_a_past_time_finds_facts_deleted_since(tier: Tier) -> None:
    note = episode("note", "Note", "Nothing of interest.")
    await tier.ingest.AddEpisode(ingest_pb2.AddEpisodeRequest(episode=note), metadata=tier.ours)
    result = fact("Payments", "RUNS_ON", "Old Cluster", document_id="note")
    await tier.ingest.AddFacts(stream(result), metadata=tier.ours)
    known = Timestamp()
    known.GetCurrentTime()
    assert targets(await search(tier)) == ["Old Cluster"]
    await tier.deletion.DeleteEpisodes(
        deletion_pb2.DeleteEpisodesRequest(chunk_ids=[note.chunk_id]), metadata=tier.ours
    )
    assert (await search(tier)).leg.status == legs_pb2.LEG_STATUS_NO_MATCH
    assert targets(await search(tier, known_time=known)) == ["Old Cluster"]
    assert targets(await search(tier, known_time=known, entity_name="payments")) == ["Old Cluster"]
    assert targets(await search(tier, known_time=stamp("2001-01-01"))) == []


async def test_a_rare_relation_is_found_among_many_facts_of_another(tier: Tier) -> None:
    many = [fact("Payments", "LIKES", f"Song {n}", statement="Payments") for n in range(200)]
    rare = fact("Payments", "IS", "Service", statement="Payments is a service of ours")
    request = ingest_pb2.AddFactsRequest(facts=[*many, rare])
    await tier.ingest.AddFacts(iter([request]), metadata=tier.ours)
    assert targets(await search(tier, relation_type="is", limit=1)) == ["Service"]
