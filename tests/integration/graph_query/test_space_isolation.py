"""Two spaces that use the same ids neither see nor change each other's data."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable

import grpc
import pytest
from google.protobuf.message import Message

from braid.graph.internal.v1 import deletion_pb2
from braid.graph.v1 import (
    findings_pb2,
    ingest_pb2,
    query_pb2,
    relations_pb2,
    structure_pb2,
)
from services.graph_query.core.domain import Origin
from services.graph_query.neo4j_store import Neo4jStore
from tests.integration.graph_query.conftest import Credential, Tier
from tests.integration.graph_query.llm_extraction import Reading, reading
from tests.integration.graph_query.messages import episode, fact, stream
from tests.store_suite.graph.builders import ALWAYS

Adding = Callable[..., Awaitable[ingest_pb2.EpisodeCounts]]

NOTE = "Mira Okafor owns the Payments Service. She met Karl Otto in Vienna Hall."


def note(chunk_id: str, content: str = NOTE, title: str = "Mira Okafor") -> ingest_pb2.EpisodeInput:
    """A chunk of the document that both spaces call `note`."""
    return episode("note", title, content, chunk_id=chunk_id)


async def add(
    tier: Tier, caller: Credential, *notes: ingest_pb2.EpisodeInput
) -> ingest_pb2.EpisodeCounts:
    """Adds chunks one by one."""
    total = ingest_pb2.EpisodeCounts()
    for one in notes:
        request = ingest_pb2.AddEpisodeRequest(episode=one)
        counts = (await tier.ingest.AddEpisode(request, metadata=caller)).counts
        total.added_episode_count += counts.added_episode_count
        total.added_mention_count += counts.added_mention_count
    return total


async def batch(
    tier: Tier, caller: Credential, *notes: ingest_pb2.EpisodeInput
) -> ingest_pb2.EpisodeCounts:
    """Adds chunks in one call."""
    request = ingest_pb2.BatchAddEpisodesRequest(episodes=notes)
    return (await tier.ingest.BatchAddEpisodes(request, metadata=caller)).counts


async def seen(tier: Tier, caller: Credential, chunk_id: str) -> list[Message]:
    """Returns all that a caller sees of a chunk: facts, neighbors, relations, findings, its subgraph, and counts."""
    query = tier.query
    search = query_pb2.SearchFactsRequest(query="Who owns the Payments Service? met")
    near = query_pb2.GetNeighborhoodRequest(entity_name="Mira Okafor")
    around = structure_pb2.GetMentionSubgraphRequest(chunk_ids=[chunk_id])
    found = findings_pb2.SearchFindingsRequest(filter=findings_pb2.FindingFilter(chunk_id=chunk_id))
    facts = await query.SearchFacts(search, metadata=caller)
    findings = await query.SearchFindings(found, metadata=caller)
    for timed in (facts, findings):
        timed.leg.ClearField("elapsed")
    return [
        facts,
        await query.GetNeighborhood(near, metadata=caller),
        await query.GetMentionSubgraph(around, metadata=caller),
        findings,
        await query.ListRelations(relations_pb2.ListRelationsRequest(), metadata=caller),
        await query.GetGraphStats(query_pb2.GetGraphStatsRequest(), metadata=caller),
    ]


async def fill(tier: Tier, caller: Credential, chunk_id: str, other_id: str) -> None:
    """Adds everything that refers to a chunk by its id."""
    await batch(tier, caller, note(chunk_id), note(other_id, "Karl Otto left Vienna Hall."))
    stated = fact("Mira Okafor", "OWNS", "Payments Service", document_id="note")
    await tier.ingest.AddFacts(stream(stated), metadata=caller)
    insight = findings_pb2.FindingInput(
        finding=findings_pb2.FindingDetails(key_insight="Payments are owned"),
        external_id="cause-1",
        chunk_ids=[chunk_id],
    )
    await tier.ingest.AddFindings(
        findings_pb2.AddFindingsRequest(findings=[insight]), metadata=caller
    )
    relation = relations_pb2.ChunkRelationInput(
        source_id=chunk_id,
        target_id=other_id,
        relation_type=relations_pb2.CHUNK_RELATION_TYPE_FOLLOWS,
    )
    await tier.ingest.PutRelations(
        relations_pb2.PutRelationsRequest(relations=[relation]), metadata=caller
    )


@pytest.mark.parametrize("adding", [add, batch])
async def test_a_chunk_id_that_another_space_uses_is_accepted_as_new(
    tier: Tier, adding: Adding
) -> None:
    one, two = str(uuid.uuid4()), str(uuid.uuid4())
    notes = [note(one), note(two, "Anna Bell left.", "Anna Bell")]
    first = await adding(tier, tier.ours, *notes)
    assert first.added_episode_count == 2
    assert await adding(tier, tier.theirs, *notes) == first
    for caller in (tier.ours, tier.theirs):
        near = await tier.query.GetNeighborhood(
            query_pb2.GetNeighborhoodRequest(entity_name="Mira Okafor"), metadata=caller
        )
        assert {source.chunk_id for edge in near.edges for source in edge.sources} == {one}


async def test_writes_to_one_space_do_not_change_what_another_with_the_same_ids_sees(
    tier: Tier,
) -> None:
    one, two = str(uuid.uuid4()), str(uuid.uuid4())
    await fill(tier, tier.ours, one, two)
    before = await seen(tier, tier.ours, one)
    await fill(tier, tier.theirs, one, two)
    assert await seen(tier, tier.ours, one) == before
    # Another text under the same id, then the deletion of both chunks.
    await add(tier, tier.theirs, note(one, "Lea Brandt met Anna Bell.", "Lea Brandt"))
    assert await seen(tier, tier.ours, one) == before
    await tier.deletion.DeleteEpisodes(
        deletion_pb2.DeleteEpisodesRequest(chunk_ids=[one, two]), metadata=tier.theirs
    )
    assert await seen(tier, tier.ours, one) == before
    left = await tier.query.GetGraphStats(query_pb2.GetGraphStatsRequest(), metadata=tier.theirs)
    assert (left.episode_count, left.entity_count, left.fact_count) == (0, 0, 0)
    with pytest.raises(grpc.aio.AioRpcError) as gone:
        await tier.query.GetNeighborhood(
            query_pb2.GetNeighborhoodRequest(entity_name="Mira Okafor"), metadata=tier.theirs
        )
    assert gone.value.code() == grpc.StatusCode.NOT_FOUND


async def test_facts_extracted_under_the_same_id_are_separate_in_each_space(
    store: Neo4jStore,
) -> None:
    async def facts_of(found: Reading) -> set[tuple[str, str]]:
        near = await store.neighborhood(found.space, "payments guild", "", 20, ALWAYS)
        return {
            (edge.uuid, edge.source.name) for edge in near.edges if edge.origin is Origin.EXTRACTED
        }

    async with reading(store) as ours, reading(store) as theirs:
        for found, leader in ((ours, "Mira Okafor"), (theirs, "Anna Bell")):
            found.script.entities = [(leader, "Person"), ("Payments Guild", "Team")]
            found.script.facts = [(leader, "LEADS", "Payments Guild", {})]
        one = ours.episode("d1", "Mira Okafor and Anna Bell lead the Payments Guild.")
        assert (await ours.intake.add(ours.space, [one])).facts == 1
        before = await facts_of(ours)
        assert (await theirs.intake.add(theirs.space, [one])).facts == 1
        assert {name for _, name in await facts_of(theirs)} == {"Anna Bell"}
        await store.delete_episodes(theirs.space, [one.uuid])
        assert await facts_of(ours) == before
        assert {name for _, name in before} == {"Mira Okafor"}
