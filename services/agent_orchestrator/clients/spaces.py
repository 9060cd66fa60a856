"""Counts and deletes what both tiers have of a space, and lists the spaces that they have."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final

import grpc

from braid.graph.internal.v1 import deletion_pb2 as graph_deletion_pb2
from braid.graph.internal.v1 import deletion_pb2_grpc as graph_deletion_grpc
from braid.graph.internal.v1 import inventory_pb2 as graph_inventory_pb2
from braid.graph.internal.v1 import inventory_pb2_grpc as graph_inventory_grpc
from braid.graph.v1 import query_pb2, query_pb2_grpc
from braid.vector.internal.v1 import (
    deletion_pb2,
    deletion_pb2_grpc,
    inventory_pb2,
    inventory_pb2_grpc,
)
from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from services.agent_orchestrator.clients.calls import Calls
from services.agent_orchestrator.clients.removed_rows import (
    NEO4J,
    POSTGRESQL,
    Rows,
    graph_rows,
    vector_rows,
)
from services.runtime.channels import OutgoingMetadata

# Deleting many rows may take several times as long as a batch of writes; repeated after its deadline, it goes on.
_PATIENCE = 5
_SPACES_AT_ONCE = 1_000
# The partitions of the tiers that contain the memories of one user: they are part of that user's space.
_PARTITION: Final = re.compile(r"memories-[0-9a-f]{48}")


class SpaceTiers:
    """Calls both tiers on behalf of the current call. Failures are `BraidError`s."""

    def __init__(
        self,
        vector: grpc.aio.Channel,
        graph: grpc.aio.Channel,
        outgoing: OutgoingMetadata,
        *,
        read_seconds: float,
        write_seconds: float,
    ) -> None:
        self._documents = documents_pb2_grpc.DocumentServiceStub(vector)
        self._document_deletion = deletion_pb2_grpc.DocumentDeletionServiceStub(vector)
        self._document_inventory = inventory_pb2_grpc.InventoryServiceStub(vector)
        self._graph_inventory = graph_inventory_grpc.GraphInventoryServiceStub(graph)
        self._query = query_pb2_grpc.GraphQueryServiceStub(graph)
        self._graph_deletion = graph_deletion_grpc.GraphDeletionServiceStub(graph)
        self._reads = Calls(outgoing, read_seconds)
        self._writes = Calls(outgoing, write_seconds)

    async def list_spaces(self, after: str, limit: int) -> set[str]:
        """Returns the first spaces after one that each tier has, in code point order; at most `limit` of each."""
        found = await asyncio.gather(
            _first_spaces(self._vector_spaces, after, limit),
            _first_spaces(self._graph_spaces, after, limit),
        )
        return set().union(*found)

    async def _vector_spaces(self, after: str) -> list[str]:
        request = inventory_pb2.ListVectorSpacesRequest(after=after, limit=_SPACES_AT_ONCE)
        return list(
            (await self._reads.call(self._document_inventory.ListVectorSpaces, request)).spaces
        )

    async def _graph_spaces(self, after: str) -> list[str]:
        request = graph_inventory_pb2.ListGraphSpacesRequest(after=after, limit=_SPACES_AT_ONCE)
        return list((await self._reads.call(self._graph_inventory.ListGraphSpaces, request)).spaces)

    async def usage(self) -> Rows:
        """Returns what the space has: store, kind, count."""
        documents = await self._reads.call(
            self._documents.GetVectorStats, documents_pb2.GetVectorStatsRequest()
        )
        nodes = await self._reads.call(self._query.GetGraphStats, query_pb2.GetGraphStatsRequest())
        return [
            (POSTGRESQL, "documents", documents.document_count),
            (POSTGRESQL, "chunks", documents.chunk_count),
            (NEO4J, "episodes", nodes.episode_count),
            (NEO4J, "facts", nodes.fact_count),
            (NEO4J, "local_facts", nodes.local_fact_count),
            (NEO4J, "entities", nodes.entity_count),
        ]

    async def delete(self, deletion_id: str) -> Rows:
        """Deletes everything of the space, idempotent by `deletion_id`; returns what went: store, kind, count."""
        vector = await self._writes.call(
            self._document_deletion.DeleteSpaceDocuments,
            deletion_pb2.DeleteSpaceDocumentsRequest(deletion_id=deletion_id),
            patience=_PATIENCE,
        )
        graph = await self._writes.call(
            self._graph_deletion.DeleteSpaceGraph,
            graph_deletion_pb2.DeleteSpaceGraphRequest(deletion_id=deletion_id),
            patience=_PATIENCE,
        )
        return [*vector_rows(vector), *graph_rows(graph)]


async def _first_spaces(
    read: Callable[[str], Awaitable[list[str]]], after: str, limit: int
) -> list[str]:
    spaces: list[str] = []
    while len(spaces) < limit:
        page = await read(after)
        spaces += [space for space in page if _PARTITION.fullmatch(space) is None]
        if len(page) < _SPACES_AT_ONCE:
            break
        after = page[-1]
    return spaces[:limit]
