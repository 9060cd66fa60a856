"""Calls to the graph tier for relations between chunks, and for their expansion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import grpc

from braid.graph.v1 import (
    expansion_pb2,
    ingest_pb2_grpc,
    query_pb2_grpc,
    relations_pb2,
)
from services.agent_orchestrator.clients.calls import Calls, WatchedCalls
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.runtime.errors import StoreUnavailableError
from services.runtime.status import error_from_rpc

if TYPE_CHECKING:
    from services.agent_orchestrator.clients.health_watch import HealthWatch
    from services.runtime.channels import OutgoingMetadata


class GraphRelations:
    """Calls to `graph_query` on behalf of the current call. Failures are `BraidError`s."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        outgoing: OutgoingMetadata,
        health: HealthWatch,
        *,
        read_seconds: float,
        write_seconds: float,
    ) -> None:
        self._query = query_pb2_grpc.GraphQueryServiceStub(channel)
        self._ingest = ingest_pb2_grpc.GraphIngestServiceStub(channel)
        self._watched = WatchedCalls(outgoing, health)
        self._reads = Calls(outgoing, read_seconds)
        self._writes = Calls(outgoing, write_seconds)

    async def put(
        self, relations: Sequence[relations_pb2.ChunkRelationInput]
    ) -> relations_pb2.PutRelationsResponse:
        """Stores relations atomically."""
        request = relations_pb2.PutRelationsRequest(relations=relations)
        return await self._writes.call(self._ingest.PutRelations, request)

    async def delete(self, relations: Sequence[relations_pb2.RelationRef]) -> int:
        """Deletes relations; returns how many existed."""
        request = relations_pb2.DeleteRelationsRequest(relations=relations)
        answer = await self._writes.call(self._ingest.DeleteRelations, request)
        return answer.deleted_count

    async def page(
        self, request: relations_pb2.ListRelationsRequest
    ) -> relations_pb2.ListRelationsResponse:
        """Returns a page of relations."""
        return await self._reads.call(self._query.ListRelations, request)

    async def stats(self) -> relations_pb2.GetRelationStatsResponse:
        """Returns counts of relations."""
        request = relations_pb2.GetRelationStatsRequest()
        return await self._reads.call(self._query.GetRelationStats, request)

    async def expand(
        self, request: expansion_pb2.ExpandRequest, seconds: float
    ) -> expansion_pb2.ExpandResponse:
        """Returns a ranked list expanded along relations, within `seconds`."""
        try:
            return await self._watched.call(self._query.Expand, request, seconds)
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None
        except TierUnavailableError:
            raise StoreUnavailableError("graph") from None
