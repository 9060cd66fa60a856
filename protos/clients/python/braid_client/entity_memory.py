"""Entity memory, for the asyncio client."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from braid.agent.v1 import entity_memory_pb2 as pb
from braid.agent.v1 import entity_memory_pb2_grpc
from braid_client.connection import Connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

EntityType: TypeAlias = "pb.MemoryEntityType.ValueType"
RelationshipType: TypeAlias = "pb.MemoryRelationshipType.ValueType"


class EntityMemory(Connection):
    """Part of `AsyncBraid`."""

    async def save_memory_entity(
        self,
        name: str,
        entity_type: EntityType,
        *,
        aliases: Iterable[str] = (),
        description: str = "",
        confidence: float | None = None,
        provenance: pb.MemoryProvenance | None = None,
        timeout: float | None = None,
    ) -> pb.SaveEntityResponse:
        """Saves an entity of the user, or adds evidence to it. A limit that is reached is an outcome, not an error."""
        request = pb.SaveEntityRequest(
            name=name,
            type=entity_type,
            aliases=list(aliases),
            description=description,
            confidence=confidence,
            provenance=provenance,
        )
        with self._typed_errors(timeout):
            return await self._entity_memory().SaveEntity(request, **self._options(timeout))

    async def save_memory_relationship(
        self,
        relationship_type: RelationshipType,
        target: pb.MemoryEndInput,
        *,
        source: pb.MemoryEndInput | None = None,
        context: str = "",
        confidence: float | None = None,
        provenance: pb.MemoryProvenance | None = None,
        timeout: float | None = None,
    ) -> pb.SaveRelationshipResponse:
        """Saves a relationship; without `source` it starts at the user."""
        request = pb.SaveRelationshipRequest(
            source=source,
            type=relationship_type,
            target=target,
            context=context,
            confidence=confidence,
            provenance=provenance,
        )
        with self._typed_errors(timeout):
            return await self._entity_memory().SaveRelationship(request, **self._options(timeout))

    async def save_memory_turn(
        self,
        turns: Iterable[str],
        *,
        provenance: pb.MemoryProvenance | None = None,
        timeout: float | None = None,
    ) -> pb.SaveTurnResponse:
        """Extracts and saves entities and relationships from the last message; earlier messages are its context."""
        request = pb.SaveTurnRequest(turns=list(turns), provenance=provenance)
        with self._typed_errors(timeout):
            return await self._entity_memory().SaveTurn(request, **self._options(timeout))

    async def query_memory_entities(
        self,
        query: str = "",
        *,
        types: Iterable[EntityType] = (),
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> pb.QueryEntitiesResponse:
        """Returns a page of entities by name, alias, spelling and meaning, best first; without a query of all."""
        request = pb.QueryEntitiesRequest(
            query=query, types=list(types), page_size=page_size, page_token=page_token
        )
        with self._typed_errors(timeout):
            return await self._entity_memory().QueryEntities(request, **self._options(timeout))

    async def query_memory(
        self,
        query: str,
        *,
        entity_type: EntityType = pb.MEMORY_ENTITY_TYPE_UNSPECIFIED,
        relationship_type: RelationshipType = pb.MEMORY_RELATIONSHIP_TYPE_UNSPECIFIED,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> pb.AnswerRelationshipQueryResponse:
        """Returns a page of relationships that answer a question such as "What do I use for monitoring?"."""
        request = pb.AnswerRelationshipQueryRequest(
            query=query,
            entity_type=entity_type,
            relationship_type=relationship_type,
            page_size=page_size,
            page_token=page_token,
        )
        stub = self._entity_memory()
        with self._typed_errors(timeout):
            return await stub.AnswerRelationshipQuery(request, **self._options(timeout))

    async def delete_memory_entity(self, entity_id: str, *, timeout: float | None = None) -> int:
        """Deletes an entity; returns how many relationships were deleted with it."""
        request = pb.DeleteEntityRequest(entity_id=entity_id)
        with self._typed_errors(timeout):
            answer = await self._entity_memory().DeleteEntity(request, **self._options(timeout))
        return answer.relationship_count

    async def query_memory_relationships(
        self,
        *,
        types: Iterable[RelationshipType] = (),
        entity_id: str = "",
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> pb.QueryRelationshipsResponse:
        """Returns a page of relationships of the user's memory, most recently mentioned first."""
        request = pb.QueryRelationshipsRequest(
            types=list(types), entity_id=entity_id, page_size=page_size, page_token=page_token
        )
        with self._typed_errors(timeout):
            return await self._entity_memory().QueryRelationships(request, **self._options(timeout))

    async def related_memory_entities(
        self,
        entity_id: str = "",
        *,
        types: Iterable[RelationshipType] = (),
        max_hops: int = 1,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> pb.GetRelatedEntitiesResponse:
        """Returns entities one or two relationships away from an entity, or from the user."""
        request = pb.GetRelatedEntitiesRequest(
            entity_id=entity_id,
            types=list(types),
            max_hops=max_hops,
            page_size=page_size,
            page_token=page_token,
        )
        with self._typed_errors(timeout):
            return await self._entity_memory().GetRelatedEntities(request, **self._options(timeout))

    async def merge_memory_entities(
        self, entity_id: str, other_entity_id: str, *, timeout: float | None = None
    ) -> pb.MemoryEntity:
        """Merges the other entity into the first, with its names, relationships and evidence."""
        request = pb.MergeEntitiesRequest(entity_id=entity_id, other_entity_id=other_entity_id)
        with self._typed_errors(timeout):
            answer = await self._entity_memory().MergeEntities(request, **self._options(timeout))
        return answer.entity

    async def rename_memory_entity(
        self, entity_id: str, name: str, *, timeout: float | None = None
    ) -> pb.MemoryEntity:
        """Renames an entity; the former name becomes an alias."""
        request = pb.RenameEntityRequest(entity_id=entity_id, name=name)
        with self._typed_errors(timeout):
            answer = await self._entity_memory().RenameEntity(request, **self._options(timeout))
        return answer.entity

    async def restore_memory_entity(
        self, entity_id: str, *, timeout: float | None = None
    ) -> pb.MemoryEntity:
        """Restores a deleted entity with the relationships that were deleted with it."""
        request = pb.RestoreEntityRequest(entity_id=entity_id)
        with self._typed_errors(timeout):
            answer = await self._entity_memory().RestoreEntity(request, **self._options(timeout))
        return answer.entity

    async def delete_memory_relationship(
        self, relationship_id: str, *, timeout: float | None = None
    ) -> None:
        """Deletes a relationship."""
        request = pb.DeleteRelationshipRequest(relationship_id=relationship_id)
        with self._typed_errors(timeout):
            await self._entity_memory().DeleteRelationship(request, **self._options(timeout))

    async def memory_quota(
        self, *, conversation_id: str = "", timeout: float | None = None
    ) -> pb.GetMemoryQuotaResponse:
        """Returns how much may still be saved today and, if a conversation is given, in it."""
        request = pb.GetMemoryQuotaRequest(conversation_id=conversation_id)
        with self._typed_errors(timeout):
            return await self._entity_memory().GetMemoryQuota(request, **self._options(timeout))

    async def export_memory(
        self, *, page_size: int = 1_000, timeout: float | None = None
    ) -> AsyncIterator[pb.ExportUserMemoryResponse]:
        """Streams the pages of all data that is stored about the user; `timeout` applies to each page."""
        token = ""
        while True:
            request = pb.ExportUserMemoryRequest(page_size=page_size, page_token=token)
            with self._typed_errors(timeout):
                page = await self._entity_memory().ExportUserMemory(
                    request, **self._options(timeout)
                )
            yield page
            token = page.next_page_token
            if not token:
                return

    async def list_dead_memory_writes(
        self, *, page_size: int = 0, page_token: str = "", timeout: float | None = None
    ) -> pb.ListDeadMemoryWritesResponse:
        """Lists what was accepted to be saved and failed for good, with reasons, latest first."""
        request = pb.ListDeadMemoryWritesRequest(page_size=page_size, page_token=page_token)
        with self._typed_errors(timeout):
            return await self._entity_memory().ListDeadMemoryWrites(
                request, **self._options(timeout)
            )

    async def retry_dead_memory_writes(
        self, *, timeout: float | None = None
    ) -> pb.RetryDeadMemoryWritesResponse:
        """Queues the user's writes that failed for good again."""
        request = pb.RetryDeadMemoryWritesRequest()
        with self._typed_errors(timeout):
            return await self._entity_memory().RetryDeadMemoryWrites(
                request, **self._options(timeout)
            )

    async def erase_memory(self, *, timeout: float | None = None) -> pb.EraseUserMemoryResponse:
        """Erases all data of the user permanently; returns the receipt."""
        request = pb.EraseUserMemoryRequest()
        with self._typed_errors(timeout):
            return await self._entity_memory().EraseUserMemory(request, **self._options(timeout))

    def _entity_memory(self) -> entity_memory_pb2_grpc.EntityMemoryServiceStub:
        return entity_memory_pb2_grpc.EntityMemoryServiceStub(self._channel("agent"))
