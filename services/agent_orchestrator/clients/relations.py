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
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.runtime.context import remaining
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
        self._outgoing = outgoing
        self._health = health
        self._read_seconds = read_seconds
        self._write_seconds = write_seconds

    async def put(
        self, relations: Sequence[relations_pb2.ChunkRelationInput]
    ) -> relations_pb2.PutRelationsResponse:
        """Stores relations atomically."""
        request = relations_pb2.PutRelationsRequest(relations=relations)
        try:
            return await self._ingest.PutRelations(
                request, timeout=remaining(self._write_seconds), metadata=self._outgoing.metadata()
            )
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None

    async def delete(self, relations: Sequence[relations_pb2.RelationRef]) -> int:
        """Deletes relations; returns how many existed."""
        request = relations_pb2.DeleteRelationsRequest(relations=relations)
        try:
            answer = await self._ingest.DeleteRelations(
                request, timeout=remaining(self._write_seconds), metadata=self._outgoing.metadata()
            )
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None
        return answer.deleted_count

    async def page(
        self, request: relations_pb2.ListRelationsRequest
    ) -> relations_pb2.ListRelationsResponse:
        """Returns a page of relations."""
        try:
            return await self._query.ListRelations(
                request, timeout=remaining(self._read_seconds), metadata=self._outgoing.metadata()
            )
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None

    async def stats(self) -> relations_pb2.GetRelationStatsResponse:
        """Returns counts of relations."""
        request = relations_pb2.GetRelationStatsRequest()
        try:
            return await self._query.GetRelationStats(
                request, timeout=remaining(self._read_seconds), metadata=self._outgoing.metadata()
            )
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None

    async def expand(
        self, request: expansion_pb2.ExpandRequest, seconds: float
    ) -> expansion_pb2.ExpandResponse:
        """Returns a ranked list expanded along relations, within `seconds`."""
        try:
            return await self._health.watch(
                lambda: self._query.Expand(
                    request, timeout=seconds, metadata=self._outgoing.metadata()
                )
            )
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None
        except TierUnavailableError:
            raise StoreUnavailableError("graph") from None
