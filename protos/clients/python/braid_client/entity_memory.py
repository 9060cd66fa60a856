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
        """Saves an entity of the user, or adds evidence to it. A reached limit is an outcome, not an error."""
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
        """Extracts what the last of some turns says, and saves it; the ones before it are its context."""
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
        """A page of entities by name, alias, spelling and meaning, best first; without a query all of them."""
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
        """A page of relationships that answer a question such as "What do I use for monitoring?"."""
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
        """Takes an entity out of the memory; how many relationships went with it."""
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
        """Relationships of the user's memory, the last mentioned first."""
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
        """Entities around one, or around the user, one or two relationships away."""
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
        """Makes the other entity part of the first: its names, relationships and evidence."""
        request = pb.MergeEntitiesRequest(entity_id=entity_id, other_entity_id=other_entity_id)
        with self._typed_errors(timeout):
            answer = await self._entity_memory().MergeEntities(request, **self._options(timeout))
        return answer.entity

    async def rename_memory_entity(
        self, entity_id: str, name: str, *, timeout: float | None = None
    ) -> pb.MemoryEntity:
        """Gives an entity another name; the former one stays as an alias."""
        request = pb.RenameEntityRequest(entity_id=entity_id, name=name)
        with self._typed_errors(timeout):
            answer = await self._entity_memory().RenameEntity(request, **self._options(timeout))
        return answer.entity

    async def restore_memory_entity(
        self, entity_id: str, *, timeout: float | None = None
    ) -> pb.MemoryEntity:
        """Brings a deleted entity back with the relationships that were deleted with it."""
        request = pb.RestoreEntityRequest(entity_id=entity_id)
        with self._typed_errors(timeout):
            answer = await self._entity_memory().RestoreEntity(request, **self._options(timeout))
        return answer.entity

    async def delete_memory_relationship(
        self, relationship_id: str, *, timeout: float | None = None
    ) -> None:
        """Takes a relationship out of the memory."""
        request = pb.DeleteRelationshipRequest(relationship_id=relationship_id)
        with self._typed_errors(timeout):
            await self._entity_memory().DeleteRelationship(request, **self._options(timeout))

    async def memory_quota(
        self, *, conversation_id: str = "", timeout: float | None = None
    ) -> pb.GetMemoryQuotaResponse:
        """What may still be saved today, and in a conversation where one is named."""
        request = pb.GetMemoryQuotaRequest(conversation_id=conversation_id)
        with self._typed_errors(timeout):
            return await self._entity_memory().GetMemoryQuota(request, **self._options(timeout))

    async def export_memory(
        self, *, page_size: int = 1_000, timeout: float | None = None
    ) -> AsyncIterator[pb.ExportUserMemoryResponse]:
        """Everything that is kept of the user, page after page; `timeout` is each page's deadline."""
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

    async def erase_memory(self, *, timeout: float | None = None) -> pb.EraseUserMemoryResponse:
        """Erases everything of the user for good; the receipt."""
        request = pb.EraseUserMemoryRequest()
        with self._typed_errors(timeout):
            return await self._entity_memory().EraseUserMemory(request, **self._options(timeout))

    def _entity_memory(self) -> entity_memory_pb2_grpc.EntityMemoryServiceStub:
        return entity_memory_pb2_grpc.EntityMemoryServiceStub(self._channel("agent"))
