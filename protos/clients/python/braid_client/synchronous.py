"""The same client without `await`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from braid_client.asynchronous import AsyncBraid
from braid_client.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from braid.agent.v1 import (
        agent_pb2,
        entity_memory_pb2,
        ingest_pb2,
        jobs_pb2,
        memories_pb2,
        search_pb2,
    )
    from braid.agent.v1.entity_memory_pb2 import (
        MemoryEndInput,
        MemoryEntityType,
        MemoryRelationshipType,
    )
    from braid.graph.v1 import (
        expansion_pb2,
        facts_pb2,
        findings_pb2,
        history_pb2,
        ontology_pb2,
        query_pb2,
        relations_pb2,
        structure_pb2,
    )
    from braid.graph.v1.findings_pb2 import FindingInput
    from braid.graph.v1.ingest_pb2 import EndFactResponse, FactInput
    from braid.graph.v1.ontology_pb2 import Ontology
    from braid.vector.v1 import documents_pb2
    from braid.vector.v1 import search_pb2 as vector_pb2
    from braid.vector.v1.documents_pb2 import DocumentInput
    from braid_client.chat import Answer
    from braid_client.options import (
        AskOptions,
        CallOptions,
        ComprehensiveOptions,
        ConnectionOptions,
        ConversationOptions,
        DiffOptions,
        DocumentOptions,
        EntityOptions,
        ExpandedHybridOptions,
        ExpandOptions,
        FactOptions,
        FindingListOptions,
        FindingOptions,
        GivenVectorsOptions,
        HistoryOptions,
        HybridOptions,
        JobListOptions,
        ListFactsOptions,
        MemoryEntitiesOptions,
        MemoryInferenceOptions,
        MemoryListOptions,
        MemoryOptions,
        MemoryQueryOptions,
        MemoryQuotaOptions,
        MemoryRelationOptions,
        MemoryRelationshipsOptions,
        MemorySearchOptions,
        MemoryUnrelateOptions,
        NeighborhoodOptions,
        OntologyOptions,
        PageOptions,
        PathOptions,
        RelatedMemoryOptions,
        RelationListOptions,
        RunEventOptions,
        SavedEntityOptions,
        SavedRelationshipOptions,
        SavedTurnOptions,
        SnapshotOptions,
        TextOptions,
        VectorOptions,
    )
    from braid_client.requests import EntityLike, TimeLike

T = TypeVar("T")
_END = object()


class Braid:
    """Takes what `AsyncBraid` takes, and may be used from any number of threads. Close it, or use `with`."""

    def __init__(
        self, target: str = "127.0.0.1:50050", **options: Unpack[ConnectionOptions]
    ) -> None:
        self._client = AsyncBraid(target, **options)  # before the thread: wrong options leave none
        self._thread = LoopThread("braid-client")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes every channel and ends the thread; calls that run, and calls after it, raise RuntimeError."""
        self._thread.close(self._client.close)

    def comprehensive_search(
        self, query: str, **options: Unpack[ComprehensiveOptions]
    ) -> search_pb2.ComprehensiveSearchResponse:
        """As `AsyncBraid.comprehensive_search`."""
        return self._run(self._client.comprehensive_search(query, **options))

    def stream_comprehensive_search(
        self, query: str, **options: Unpack[ComprehensiveOptions]
    ) -> Iterator[search_pb2.StreamComprehensiveSearchResponse]:
        """As `AsyncBraid.stream_comprehensive_search`."""
        return self._each(self._client.stream_comprehensive_search(query, **options))

    def hybrid_search(
        self, query: str, **options: Unpack[HybridOptions]
    ) -> vector_pb2.HybridSearchResponse:
        """As `AsyncBraid.hybrid_search`."""
        return self._run(self._client.hybrid_search(query, **options))

    def expanded_hybrid_search(
        self, query: str, **options: Unpack[ExpandedHybridOptions]
    ) -> search_pb2.ExpandedHybridSearchResponse:
        """As `AsyncBraid.expanded_hybrid_search`."""
        return self._run(self._client.expanded_hybrid_search(query, **options))

    def vector_search(
        self, query: str, **options: Unpack[VectorOptions]
    ) -> vector_pb2.VectorSearchResponse:
        """As `AsyncBraid.vector_search`."""
        return self._run(self._client.vector_search(query, **options))

    def text_search(
        self, query: str, **options: Unpack[TextOptions]
    ) -> vector_pb2.TextSearchResponse:
        """As `AsyncBraid.text_search`."""
        return self._run(self._client.text_search(query, **options))

    def search_facts(
        self, query: str, **options: Unpack[FactOptions]
    ) -> query_pb2.SearchFactsResponse:
        """As `AsyncBraid.search_facts`."""
        return self._run(self._client.search_facts(query, **options))

    def neighborhood(
        self, entity_name: str, **options: Unpack[NeighborhoodOptions]
    ) -> query_pb2.GetNeighborhoodResponse:
        """As `AsyncBraid.neighborhood`."""
        return self._run(self._client.neighborhood(entity_name, **options))

    def entities(self, **options: Unpack[EntityOptions]) -> Iterator[facts_pb2.Entity]:
        """As `AsyncBraid.entities`."""
        return self._each(self._client.entities(**options))

    def entity_history(
        self, entity: EntityLike, **options: Unpack[HistoryOptions]
    ) -> history_pb2.GetEntityHistoryResponse:
        """As `AsyncBraid.entity_history`."""
        return self._run(self._client.entity_history(entity, **options))

    def snapshot(
        self, as_of: TimeLike, **options: Unpack[SnapshotOptions]
    ) -> history_pb2.GetSnapshotResponse:
        """As `AsyncBraid.snapshot`."""
        return self._run(self._client.snapshot(as_of, **options))

    def diff(
        self, before: TimeLike, after: TimeLike | None = None, **options: Unpack[DiffOptions]
    ) -> history_pb2.GraphDiff:
        """As `AsyncBraid.diff`."""
        return self._run(self._client.diff(before, after, **options))

    def find_paths(
        self, source: EntityLike, target: EntityLike, **options: Unpack[PathOptions]
    ) -> structure_pb2.FindPathsResponse:
        """As `AsyncBraid.find_paths`."""
        return self._run(self._client.find_paths(source, target, **options))

    def list_facts(self, **options: Unpack[ListFactsOptions]) -> Iterator[facts_pb2.Fact]:
        """As `AsyncBraid.list_facts`."""
        return self._each(self._client.list_facts(**options))

    def get_fact(
        self, fact_id: str, **options: Unpack[CallOptions]
    ) -> structure_pb2.GetFactResponse:
        """As `AsyncBraid.get_fact`."""
        return self._run(self._client.get_fact(fact_id, **options))

    def end_fact(
        self, fact_id: str, invalid_time: datetime, **options: Unpack[CallOptions]
    ) -> EndFactResponse:
        """As `AsyncBraid.end_fact`."""
        return self._run(self._client.end_fact(fact_id, invalid_time, **options))

    def add_findings(
        self, findings: Iterable[FindingInput], **options: Unpack[GivenVectorsOptions]
    ) -> findings_pb2.AddFindingsResponse:
        """As `AsyncBraid.add_findings`."""
        return self._run(self._client.add_findings(list(findings), **options))

    def search_findings(
        self, query: str, **options: Unpack[FindingOptions]
    ) -> findings_pb2.SearchFindingsResponse:
        """As `AsyncBraid.search_findings`."""
        return self._run(self._client.search_findings(query, **options))

    def list_findings(
        self, **options: Unpack[FindingListOptions]
    ) -> Iterator[findings_pb2.Finding]:
        """As `AsyncBraid.list_findings`."""
        return self._each(self._client.list_findings(**options))

    def get_ontology(self, **options: Unpack[CallOptions]) -> ontology_pb2.GetOntologyResponse:
        """As `AsyncBraid.get_ontology`."""
        return self._run(self._client.get_ontology(**options))

    def put_ontology(self, ontology: Ontology, **options: Unpack[OntologyOptions]) -> int:
        """As `AsyncBraid.put_ontology`."""
        return self._run(self._client.put_ontology(ontology, **options))

    def create_memory(
        self, content: str, **options: Unpack[MemoryOptions]
    ) -> memories_pb2.CreateMemoryResponse:
        """As `AsyncBraid.create_memory`."""
        return self._run(self._client.create_memory(content, **options))

    def get_memory(
        self, memory_id: str, **options: Unpack[CallOptions]
    ) -> memories_pb2.GetMemoryResponse:
        """As `AsyncBraid.get_memory`."""
        return self._run(self._client.get_memory(memory_id, **options))

    def list_memories(self, **options: Unpack[MemoryListOptions]) -> Iterator[memories_pb2.Memory]:
        """As `AsyncBraid.list_memories`."""
        return self._each(self._client.list_memories(**options))

    def delete_memory(self, memory_id: str, **options: Unpack[CallOptions]) -> None:
        """As `AsyncBraid.delete_memory`."""
        self._run(self._client.delete_memory(memory_id, **options))

    def relate_memories(
        self,
        memory_id: str,
        relation_type: str,
        target_id: str,
        **options: Unpack[MemoryRelationOptions],
    ) -> memories_pb2.MemoryRelation:
        """As `AsyncBraid.relate_memories`."""
        return self._run(
            self._client.relate_memories(memory_id, relation_type, target_id, **options)
        )

    def unrelate_memories(
        self, memory_id: str, target_id: str, **options: Unpack[MemoryUnrelateOptions]
    ) -> int:
        """As `AsyncBraid.unrelate_memories`."""
        return self._run(self._client.unrelate_memories(memory_id, target_id, **options))

    def search_memories(
        self, query: str, **options: Unpack[MemorySearchOptions]
    ) -> memories_pb2.SearchMemoriesResponse:
        """As `AsyncBraid.search_memories`."""
        return self._run(self._client.search_memories(query, **options))

    def close_memory_session(
        self, session_id: str, **options: Unpack[CallOptions]
    ) -> memories_pb2.Memory:
        """As `AsyncBraid.close_memory_session`."""
        return self._run(self._client.close_memory_session(session_id, **options))

    def memory_types(self, **options: Unpack[CallOptions]) -> list[str]:
        """As `AsyncBraid.memory_types`."""
        return self._run(self._client.memory_types(**options))

    def put_memory_types(self, types: Sequence[str], **options: Unpack[CallOptions]) -> list[str]:
        """As `AsyncBraid.put_memory_types`."""
        return self._run(self._client.put_memory_types(types, **options))

    def run_memory_inference(
        self, **options: Unpack[MemoryInferenceOptions]
    ) -> memories_pb2.RunMemoryInferenceResponse:
        """As `AsyncBraid.run_memory_inference`."""
        return self._run(self._client.run_memory_inference(**options))

    def start_memory_inference(self, **options: Unpack[MemoryInferenceOptions]) -> jobs_pb2.Job:
        """As `AsyncBraid.start_memory_inference`."""
        return self._run(self._client.start_memory_inference(**options))

    def memory_stats(self, **options: Unpack[CallOptions]) -> memories_pb2.GetMemoryStatsResponse:
        """As `AsyncBraid.memory_stats`."""
        return self._run(self._client.memory_stats(**options))

    def expand(
        self, seeds: Mapping[str, float], **options: Unpack[ExpandOptions]
    ) -> expansion_pb2.ExpandResponse:
        """As `AsyncBraid.expand`."""
        return self._run(self._client.expand(seeds, **options))

    def put_relations(
        self,
        relations: Iterable[relations_pb2.ChunkRelationInput],
        **options: Unpack[CallOptions],
    ) -> relations_pb2.PutRelationsResponse:
        """As `AsyncBraid.put_relations`."""
        return self._run(self._client.put_relations(list(relations), **options))

    def delete_relations(
        self, relations: Iterable[relations_pb2.RelationRef], **options: Unpack[CallOptions]
    ) -> int:
        """As `AsyncBraid.delete_relations`."""
        return self._run(self._client.delete_relations(list(relations), **options))

    def list_relations(
        self, **options: Unpack[RelationListOptions]
    ) -> Iterator[relations_pb2.ChunkRelation]:
        """As `AsyncBraid.list_relations`."""
        return self._each(self._client.list_relations(**options))

    def ingest_document(
        self, data: bytes | str, **options: Unpack[DocumentOptions]
    ) -> jobs_pb2.Job:
        """As `AsyncBraid.ingest_document`."""
        return self._run(self._client.ingest_document(data, **options))

    def get_job(self, job_id: str, **options: Unpack[CallOptions]) -> jobs_pb2.Job:
        """As `AsyncBraid.get_job`."""
        return self._run(self._client.get_job(job_id, **options))

    def list_jobs(self, **options: Unpack[JobListOptions]) -> Iterator[jobs_pb2.Job]:
        """As `AsyncBraid.list_jobs`."""
        return self._each(self._client.list_jobs(**options))

    def cancel_job(self, job_id: str, **options: Unpack[CallOptions]) -> jobs_pb2.Job:
        """As `AsyncBraid.cancel_job`."""
        return self._run(self._client.cancel_job(job_id, **options))

    def retry_job(self, job_id: str, **options: Unpack[CallOptions]) -> jobs_pb2.Job:
        """As `AsyncBraid.retry_job`."""
        return self._run(self._client.retry_job(job_id, **options))

    def list_dead_documents(
        self, **options: Unpack[PageOptions]
    ) -> Iterator[jobs_pb2.DeadDocument]:
        """As `AsyncBraid.list_dead_documents`."""
        return self._each(self._client.list_dead_documents(**options))

    def wait_for_job(self, job_id: str, *, timeout: float = 600.0) -> jobs_pb2.Job:
        """As `AsyncBraid.wait_for_job`."""
        return self._run(self._client.wait_for_job(job_id, timeout=timeout))

    def ingest_facts(
        self, facts: Iterable[FactInput], **options: Unpack[GivenVectorsOptions]
    ) -> ingest_pb2.IngestFactsResponse:
        """As `AsyncBraid.ingest_facts`."""
        return self._run(self._client.ingest_facts(list(facts), **options))

    def upsert_document(
        self, document: DocumentInput, **options: Unpack[GivenVectorsOptions]
    ) -> documents_pb2.UpsertDocumentResponse:
        """As `AsyncBraid.upsert_document`."""
        return self._run(self._client.upsert_document(document, **options))

    def upsert_documents(
        self, documents: Iterable[DocumentInput], **options: Unpack[GivenVectorsOptions]
    ) -> documents_pb2.BatchUpsertDocumentsResponse:
        """As `AsyncBraid.upsert_documents`."""
        return self._run(self._client.upsert_documents(list(documents), **options))

    def get_document(
        self, document_id: str, **options: Unpack[CallOptions]
    ) -> documents_pb2.GetDocumentResponse:
        """As `AsyncBraid.get_document`."""
        return self._run(self._client.get_document(document_id, **options))

    def list_document_versions(
        self, document_id: str, **options: Unpack[PageOptions]
    ) -> Iterator[documents_pb2.DocumentVersion]:
        """As `AsyncBraid.list_document_versions`."""
        return self._each(self._client.list_document_versions(document_id, **options))

    def list_documents(self, **options: Unpack[PageOptions]) -> Iterator[documents_pb2.Document]:
        """As `AsyncBraid.list_documents`."""
        return self._each(self._client.list_documents(**options))

    def delete_document(
        self, document_id: str, **options: Unpack[CallOptions]
    ) -> ingest_pb2.DeleteDocumentResponse:
        """As `AsyncBraid.delete_document`."""
        return self._run(self._client.delete_document(document_id, **options))

    def get_text_language(
        self, **options: Unpack[CallOptions]
    ) -> documents_pb2.GetTextLanguageResponse:
        """As `AsyncBraid.get_text_language`."""
        return self._run(self._client.get_text_language(**options))

    def set_text_language(self, language: str, **options: Unpack[CallOptions]) -> None:
        """As `AsyncBraid.set_text_language`."""
        self._run(self._client.set_text_language(language, **options))

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """As `AsyncBraid.ask`."""
        return self._run(self._client.ask(question, **options))

    def stream_ask(
        self, question: str, **options: Unpack[AskOptions]
    ) -> Iterator[agent_pb2.RunEvent]:
        """As `AsyncBraid.stream_ask`."""
        return self._each(self._client.stream_ask(question, **options))

    def run_events(
        self, run_id: str, **options: Unpack[RunEventOptions]
    ) -> Iterator[agent_pb2.RunEvent]:
        """As `AsyncBraid.run_events`."""
        return self._each(self._client.run_events(run_id, **options))

    def cancel_run(self, run_id: str, **options: Unpack[CallOptions]) -> None:
        """As `AsyncBraid.cancel_run`."""
        self._run(self._client.cancel_run(run_id, **options))

    def create_conversation(
        self, title: str = "", **options: Unpack[CallOptions]
    ) -> agent_pb2.Conversation:
        """As `AsyncBraid.create_conversation`."""
        return self._run(self._client.create_conversation(title, **options))

    def get_conversation(
        self, conversation_id: str, **options: Unpack[ConversationOptions]
    ) -> agent_pb2.GetConversationResponse:
        """As `AsyncBraid.get_conversation`."""
        return self._run(self._client.get_conversation(conversation_id, **options))

    def list_conversations(
        self, **options: Unpack[PageOptions]
    ) -> Iterator[agent_pb2.Conversation]:
        """As `AsyncBraid.list_conversations`."""
        return self._each(self._client.list_conversations(**options))

    def list_messages(
        self, conversation_id: str, **options: Unpack[PageOptions]
    ) -> Iterator[agent_pb2.Message]:
        """As `AsyncBraid.list_messages`."""
        return self._each(self._client.list_messages(conversation_id, **options))

    def rename_conversation(
        self, conversation_id: str, title: str, **options: Unpack[CallOptions]
    ) -> agent_pb2.Conversation:
        """As `AsyncBraid.rename_conversation`."""
        return self._run(self._client.rename_conversation(conversation_id, title, **options))

    def delete_conversation(self, conversation_id: str, **options: Unpack[CallOptions]) -> None:
        """As `AsyncBraid.delete_conversation`."""
        self._run(self._client.delete_conversation(conversation_id, **options))

    def save_memory_entity(
        self,
        name: str,
        entity_type: MemoryEntityType.ValueType,
        **options: Unpack[SavedEntityOptions],
    ) -> entity_memory_pb2.SaveEntityResponse:
        """As `AsyncBraid.save_memory_entity`."""
        return self._run(self._client.save_memory_entity(name, entity_type, **options))

    def save_memory_relationship(
        self,
        relationship_type: MemoryRelationshipType.ValueType,
        target: MemoryEndInput,
        **options: Unpack[SavedRelationshipOptions],
    ) -> entity_memory_pb2.SaveRelationshipResponse:
        """As `AsyncBraid.save_memory_relationship`."""
        call = self._client.save_memory_relationship(relationship_type, target, **options)
        return self._run(call)

    def save_memory_turn(
        self, turns: Iterable[str], **options: Unpack[SavedTurnOptions]
    ) -> entity_memory_pb2.SaveTurnResponse:
        """As `AsyncBraid.save_memory_turn`."""
        return self._run(self._client.save_memory_turn(turns, **options))

    def query_memory_entities(
        self, query: str = "", **options: Unpack[MemoryEntitiesOptions]
    ) -> entity_memory_pb2.QueryEntitiesResponse:
        """As `AsyncBraid.query_memory_entities`."""
        return self._run(self._client.query_memory_entities(query, **options))

    def query_memory(
        self, query: str, **options: Unpack[MemoryQueryOptions]
    ) -> entity_memory_pb2.AnswerRelationshipQueryResponse:
        """As `AsyncBraid.query_memory`."""
        return self._run(self._client.query_memory(query, **options))

    def delete_memory_entity(self, entity_id: str, **options: Unpack[CallOptions]) -> int:
        """As `AsyncBraid.delete_memory_entity`."""
        return self._run(self._client.delete_memory_entity(entity_id, **options))

    def query_memory_relationships(
        self, **options: Unpack[MemoryRelationshipsOptions]
    ) -> entity_memory_pb2.QueryRelationshipsResponse:
        """As `AsyncBraid.query_memory_relationships`."""
        return self._run(self._client.query_memory_relationships(**options))

    def related_memory_entities(
        self, entity_id: str = "", **options: Unpack[RelatedMemoryOptions]
    ) -> entity_memory_pb2.GetRelatedEntitiesResponse:
        """As `AsyncBraid.related_memory_entities`."""
        return self._run(self._client.related_memory_entities(entity_id, **options))

    def merge_memory_entities(
        self, entity_id: str, other_entity_id: str, **options: Unpack[CallOptions]
    ) -> entity_memory_pb2.MemoryEntity:
        """As `AsyncBraid.merge_memory_entities`."""
        call = self._client.merge_memory_entities(entity_id, other_entity_id, **options)
        return self._run(call)

    def rename_memory_entity(
        self, entity_id: str, name: str, **options: Unpack[CallOptions]
    ) -> entity_memory_pb2.MemoryEntity:
        """As `AsyncBraid.rename_memory_entity`."""
        return self._run(self._client.rename_memory_entity(entity_id, name, **options))

    def restore_memory_entity(
        self, entity_id: str, **options: Unpack[CallOptions]
    ) -> entity_memory_pb2.MemoryEntity:
        """As `AsyncBraid.restore_memory_entity`."""
        return self._run(self._client.restore_memory_entity(entity_id, **options))

    def delete_memory_relationship(
        self, relationship_id: str, **options: Unpack[CallOptions]
    ) -> None:
        """As `AsyncBraid.delete_memory_relationship`."""
        self._run(self._client.delete_memory_relationship(relationship_id, **options))

    def memory_quota(
        self, **options: Unpack[MemoryQuotaOptions]
    ) -> entity_memory_pb2.GetMemoryQuotaResponse:
        """As `AsyncBraid.memory_quota`."""
        return self._run(self._client.memory_quota(**options))

    def export_memory(
        self, **options: Unpack[PageOptions]
    ) -> Iterator[entity_memory_pb2.ExportUserMemoryResponse]:
        """As `AsyncBraid.export_memory`."""
        return self._each(self._client.export_memory(**options))

    def erase_memory(
        self, **options: Unpack[CallOptions]
    ) -> entity_memory_pb2.EraseUserMemoryResponse:
        """As `AsyncBraid.erase_memory`."""
        return self._run(self._client.erase_memory(**options))

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._thread.run(call)

    def _each(self, stream: AsyncIterator[T]) -> Iterator[T]:
        try:
            while True:
                item: Any = self._run(_next(stream))
                if item is _END:
                    return
                yield item
        finally:
            self._thread.begin(_left(stream))


async def _left(stream: AsyncIterator[Any]) -> None:
    """Ends a stream that its caller may have left before its end."""
    if isinstance(stream, AsyncGenerator):
        await stream.aclose()


async def _next(stream: AsyncIterator[Any]) -> Any:
    return await anext(stream, _END)
