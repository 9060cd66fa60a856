"""Relations between chunks, and the expansion of ranked lists along them, for the asyncio client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.graph.v1 import (
    expansion_pb2,
    ingest_pb2_grpc,
    query_pb2_grpc,
    relations_pb2,
)
from braid_client.connection import Connection
from braid_client.requests import timestamp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from datetime import datetime

    from braid.graph.v1.relations_pb2 import ChunkRelationType


class Relations(Connection):
    """Part of `AsyncBraid`."""

    async def expand(
        self,
        seeds: Mapping[str, float],
        *,
        hops: int | None = None,
        relation_types: Sequence[ChunkRelationType.ValueType] = (),
        expansion_factor: float | None = None,
        adaptive_factor: bool = False,
        min_strength: float | None = None,
        max_degree: int | None = None,
        as_of: datetime | None = None,
        limit: int | None = None,
        keep_ranking: bool = False,
        timeout: float | None = None,
    ) -> expansion_pb2.ExpandResponse:
        """Expands a ranked list of chunk ids with scores along relations. None means the contract's default."""
        request = expansion_pb2.ExpandRequest(
            seeds=[
                expansion_pb2.ExpansionSeed(chunk_id=chunk, score=score)
                for chunk, score in seeds.items()
            ],
            max_hops=hops,
            relation_types=relation_types,
            expansion_factor=expansion_factor,
            adaptive_factor=adaptive_factor,
            min_strength=min_strength,
            max_degree=max_degree,
            as_of=timestamp(as_of),
            limit=limit,
            keep_ranking=keep_ranking,
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.Expand(request, **self._options(timeout))

    async def put_relations(
        self,
        relations: Iterable[relations_pb2.ChunkRelationInput],
        *,
        timeout: float | None = None,
    ) -> relations_pb2.PutRelationsResponse:
        """Stores 1–1,000 relations between chunks in one transaction; existing ones are changed."""
        request = relations_pb2.PutRelationsRequest(relations=list(relations))
        stub = ingest_pb2_grpc.GraphIngestServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.PutRelations(request, **self._options(timeout))

    async def delete_relations(
        self, relations: Iterable[relations_pb2.RelationRef], *, timeout: float | None = None
    ) -> int:
        """Removes relations; returns how many were removed."""
        request = relations_pb2.DeleteRelationsRequest(relations=list(relations))
        stub = ingest_pb2_grpc.GraphIngestServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            answer = await stub.DeleteRelations(request, **self._options(timeout))
        return answer.deleted_count

    async def list_relations(
        self,
        *,
        chunk_id: str = "",
        types: Sequence[ChunkRelationType.ValueType] = (),
        page_size: int = 1000,
        timeout: float | None = None,
    ) -> AsyncIterator[relations_pb2.ChunkRelation]:
        """Lists relations of a chunk, or of the whole space; `timeout` applies to each page."""
        token = ""
        while True:
            request = relations_pb2.ListRelationsRequest(
                chunk_id=chunk_id, relation_types=types, page_size=page_size, page_token=token
            )
            stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
            with self._typed_errors(timeout):
                page = await stub.ListRelations(request, **self._options(timeout))
            for relation in page.relations:
                yield relation
            token = page.next_page_token
            if not token:
                return
