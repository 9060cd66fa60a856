"""Two spaces ingest, change and delete a document with the same id independently, on real stores."""

from __future__ import annotations

import uuid
from contextlib import AsyncExitStack

from braid.agent.v1 import ingest_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import search_pb2
from services.runtime.channels import Metadata
from tests.integration.upkeep.conftest import OURS, World

TEXT = "Mira Okafor owns the Payments Service. She met Karl Otto in Vienna Hall."


async def seen(world: World, caller: Metadata) -> tuple[list[str], list[str], int]:
    """What a caller finds: chunk texts, statements about an entity, and the number of episodes."""
    search = search_pb2.TextSearchRequest(query="Mira Okafor", limit=10)
    chunks = await world.chunks.TextSearch(search, metadata=caller, timeout=10)
    near = query_pb2.GetNeighborhoodRequest(entity_name="Mira Okafor")
    facts = await world.facts.GetNeighborhood(near, metadata=caller, timeout=10)
    stats = query_pb2.GetGraphStatsRequest()
    counts = await world.facts.GetGraphStats(stats, metadata=caller, timeout=10)
    return (
        [hit.chunk.content for hit in chunks.hits],
        sorted(edge.statement for edge in facts.edges),
        counts.episode_count,
    )


async def test_documents_with_the_same_id_in_two_spaces_are_independent(world: World) -> None:
    space = f"theirs-{uuid.uuid4().hex[:10]}"
    theirs: Metadata = (("authorization", "Bearer agent-key"), ("braid-space", space))
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        for caller in (OURS, theirs):
            job = await world.put("note", TEXT, "Mira Okafor", caller)
            assert (job.written_chunk_count, job.failed_count) == (1, 0)
        before = await seen(world, OURS)
        assert await seen(world, theirs) == before
        assert (before[0], before[2]) == ([TEXT], 1)
        await world.put("note", "Mira Okafor left Vienna Hall.", "Mira Okafor", theirs)
        assert await seen(world, OURS) == before
        assert (await seen(world, theirs))[0] == ["Mira Okafor left Vienna Hall."]
        request = ingest_pb2.DeleteDocumentRequest(document_id="note")
        deleting = await world.ingest.DeleteDocument(request, metadata=theirs, timeout=20)
        await world.ended(deleting.job.id, theirs)
    assert await seen(world, OURS) == before
    stats = query_pb2.GetGraphStatsRequest()
    assert (await world.facts.GetGraphStats(stats, metadata=theirs)).episode_count == 0
