"""Methods of the asyncio client. Generated from the contracts by `make generate`: do not edit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from braid.agent.v1 import agent_pb2 as agent_agent_pb2
from braid.agent.v1 import agent_pb2_grpc as agent_agent_pb2_grpc
from braid.agent.v1 import consistency_pb2 as agent_consistency_pb2
from braid.agent.v1 import consistency_pb2_grpc as agent_consistency_pb2_grpc
from braid.agent.v1 import entity_memory_pb2 as agent_entity_memory_pb2
from braid.agent.v1 import entity_memory_pb2_grpc as agent_entity_memory_pb2_grpc
from braid.agent.v1 import ingest_pb2 as agent_ingest_pb2
from braid.agent.v1 import ingest_pb2_grpc as agent_ingest_pb2_grpc
from braid.agent.v1 import jobs_pb2 as agent_jobs_pb2
from braid.agent.v1 import jobs_pb2_grpc as agent_jobs_pb2_grpc
from braid.agent.v1 import memories_pb2 as agent_memories_pb2
from braid.agent.v1 import memories_pb2_grpc as agent_memories_pb2_grpc
from braid.agent.v1 import models_pb2 as agent_models_pb2
from braid.agent.v1 import models_pb2_grpc as agent_models_pb2_grpc
from braid.agent.v1 import profile_pb2 as agent_profile_pb2
from braid.agent.v1 import profile_pb2_grpc as agent_profile_pb2_grpc
from braid.agent.v1 import search_pb2 as agent_search_pb2
from braid.agent.v1 import search_pb2_grpc as agent_search_pb2_grpc
from braid.agent.v1 import sources_pb2 as agent_sources_pb2
from braid.agent.v1 import sources_pb2_grpc as agent_sources_pb2_grpc
from braid.agent.v1 import spaces_pb2 as agent_spaces_pb2
from braid.agent.v1 import spaces_pb2_grpc as agent_spaces_pb2_grpc
from braid.agent.v1 import transfer_pb2 as agent_transfer_pb2
from braid.agent.v1 import transfer_pb2_grpc as agent_transfer_pb2_grpc
from braid.common.v1 import reranking_pb2 as common_reranking_pb2
from braid.common.v1 import retrieval_pb2 as common_retrieval_pb2
from braid.graph.v1 import corrections_pb2 as graph_corrections_pb2
from braid.graph.v1 import entities_pb2 as graph_entities_pb2
from braid.graph.v1 import expansion_pb2 as graph_expansion_pb2
from braid.graph.v1 import facts_pb2 as graph_facts_pb2
from braid.graph.v1 import findings_pb2 as graph_findings_pb2
from braid.graph.v1 import history_pb2 as graph_history_pb2
from braid.graph.v1 import ingest_pb2 as graph_ingest_pb2
from braid.graph.v1 import ingest_pb2_grpc as graph_ingest_pb2_grpc
from braid.graph.v1 import ontology_pb2 as graph_ontology_pb2
from braid.graph.v1 import query_pb2 as graph_query_pb2
from braid.graph.v1 import query_pb2_grpc as graph_query_pb2_grpc
from braid.graph.v1 import relations_pb2 as graph_relations_pb2
from braid.graph.v1 import structure_pb2 as graph_structure_pb2
from braid.vector.v1 import chunks_pb2 as vector_chunks_pb2
from braid.vector.v1 import documents_pb2 as vector_documents_pb2
from braid.vector.v1 import documents_pb2_grpc as vector_documents_pb2_grpc
from braid.vector.v1 import search_pb2 as vector_search_pb2
from braid.vector.v1 import search_pb2_grpc as vector_search_pb2_grpc
from braid_client.connection import Connection
from braid_client.requests import (
    EntityLike,
    ExpansionLike,
    TimeLike,
    entity_selector,
    enum_value,
    expansion_options,
    struct,
    time_selector,
    timestamp,
)


class Calls(Connection):
    """A method for each method of the contracts that answers once; lists are read page by page."""

    async def comprehensive_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        use_vector: bool | None = None,
        use_graph: bool | None = None,
        text_weight: float | None = None,
        as_of: datetime | None = None,
        filter: vector_chunks_pb2.ChunkFilter | None = None,
        cache: common_retrieval_pb2.CacheMode.ValueType | str | None = None,
        include: Iterable[agent_search_pb2.AnswerPart.ValueType | str] = (),
        expansion: ExpansionLike | None = None,
        rerank: common_reranking_pb2.RerankMode.ValueType | str | None = None,
        use_memories: bool = False,
        timeout: float | None = None,
    ) -> agent_search_pb2.ComprehensiveSearchResponse:
        """Finds chunks and facts for a question, in parallel, and fuses them into one list. Fails only when
        every requested leg failed, or when too many searches are waiting (RESOURCE_EXHAUSTED, with the
        delay before a retry). A leg has a budget of 2 seconds (a setting), or less if the caller's deadline
        requires it; after that it is TIMED_OUT.

        Args:
            query: The question, 1–4,096 characters that are not all white space.
            limit: Maximum number of hits from each leg and in the fused list, 1–50. Default 10. The
                lists for a smaller limit are prefixes of the lists for a larger limit.
            use_vector: Search the chunks. Default true.
            use_graph: Search the graph. Default true.
            text_weight: Weight of the text score within the leg VECTOR, 0–1. Default 0.15.
            as_of: Search documents and facts as of this instant. Default: now.
            filter: Which chunks the leg VECTOR may find. It does not restrict facts and the documents
                that they cite: set `use_graph` to false to leave them out.
            cache: Whether cached answers of the tiers and a cached query vector may be used. Default:
                yes, while nothing has changed.
            include: The parts of the answer to return; the others are left out, which makes the answer
                smaller. Default: all. In a streamed answer this applies to the `final` message; `leg`
                messages always contain their hits.
            expansion: How the fused list is expanded along the graph. Default: QUERY_AWARE with its
                defaults; none without the graph's leg.
            rerank: Whether and how the fused list is reranked before it is expanded. Default: the
                service's setting.
            use_memories: Also search the calling user's memories: they are listed among the results by
                their score. Default: only documents.
        """
        request = agent_search_pb2.ComprehensiveSearchRequest(
            query=query,
            limit=limit,
            use_vector=use_vector,
            use_graph=use_graph,
            text_weight=text_weight,
            as_of=timestamp(as_of),
            filter=filter,
            cache=enum_value(common_retrieval_pb2.CacheMode)(cache),
            include=[enum_value(agent_search_pb2.AnswerPart)(one) for one in include],
            expansion=expansion_options(expansion),
            rerank=enum_value(common_reranking_pb2.RerankMode)(rerank),
            use_memories=use_memories,
        )
        answer: agent_search_pb2.ComprehensiveSearchResponse = await self._call(
            "agent",
            agent_search_pb2_grpc.SearchServiceStub,
            "ComprehensiveSearch",
            request,
            timeout,
        )
        return answer

    async def stream_comprehensive_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        use_vector: bool | None = None,
        use_graph: bool | None = None,
        text_weight: float | None = None,
        as_of: datetime | None = None,
        filter: vector_chunks_pb2.ChunkFilter | None = None,
        cache: common_retrieval_pb2.CacheMode.ValueType | str | None = None,
        include: Iterable[agent_search_pb2.AnswerPart.ValueType | str] = (),
        expansion: ExpansionLike | None = None,
        rerank: common_reranking_pb2.RerankMode.ValueType | str | None = None,
        use_memories: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[agent_search_pb2.StreamComprehensiveSearchResponse]:
        """The same as a stream: each leg's results as they arrive, then the fused list.

        Args:
            query: The question, 1–4,096 characters that are not all white space.
            limit: Maximum number of hits from each leg and in the fused list, 1–50. Default 10. The
                lists for a smaller limit are prefixes of the lists for a larger limit.
            use_vector: Search the chunks. Default true.
            use_graph: Search the graph. Default true.
            text_weight: Weight of the text score within the leg VECTOR, 0–1. Default 0.15.
            as_of: Search documents and facts as of this instant. Default: now.
            filter: Which chunks the leg VECTOR may find. It does not restrict facts and the documents
                that they cite: set `use_graph` to false to leave them out.
            cache: Whether cached answers of the tiers and a cached query vector may be used. Default:
                yes, while nothing has changed.
            include: The parts of the answer to return; the others are left out, which makes the answer
                smaller. Default: all. In a streamed answer this applies to the `final` message; `leg`
                messages always contain their hits.
            expansion: How the fused list is expanded along the graph. Default: QUERY_AWARE with its
                defaults; none without the graph's leg.
            rerank: Whether and how the fused list is reranked before it is expanded. Default: the
                service's setting.
            use_memories: Also search the calling user's memories: they are listed among the results by
                their score. Default: only documents.
        """
        request = agent_search_pb2.StreamComprehensiveSearchRequest(
            search=agent_search_pb2.ComprehensiveSearchRequest(
                query=query,
                limit=limit,
                use_vector=use_vector,
                use_graph=use_graph,
                text_weight=text_weight,
                as_of=timestamp(as_of),
                filter=filter,
                cache=enum_value(common_retrieval_pb2.CacheMode)(cache),
                include=[enum_value(agent_search_pb2.AnswerPart)(one) for one in include],
                expansion=expansion_options(expansion),
                rerank=enum_value(common_reranking_pb2.RerankMode)(rerank),
                use_memories=use_memories,
            )
        )
        async for one in self._stream(
            "agent",
            agent_search_pb2_grpc.SearchServiceStub,
            "StreamComprehensiveSearch",
            request,
            timeout,
        ):
            yield one

    async def expanded_hybrid_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        text_weight: float | None = None,
        fusion: vector_chunks_pb2.Fusion.ValueType | str | None = None,
        query_embedding: common_retrieval_pb2.QueryEmbedding | None = None,
        filter: vector_chunks_pb2.ChunkFilter | None = None,
        as_of: datetime | None = None,
        min_score: float | None = None,
        text_only: bool = False,
        cache: common_retrieval_pb2.CacheMode.ValueType | str | None = None,
        expansion: ExpansionLike | None = None,
        rerank: common_reranking_pb2.RerankMode.ValueType | str | None = None,
        timeout: float | None = None,
    ) -> agent_search_pb2.ExpandedHybridSearchResponse:
        """Finds chunks by meaning and words as the vector tier's HybridSearch does, then reranks and expands
        them along the graph. When the graph is unavailable, returns the unexpanded list and reports that.

        Args:
            query: The question, 1–4,096 characters that are not all white space.
            limit: Maximum number of hits, 1–50. Default 10.
            text_weight: Weight of the text score in the fused score, 0–1. Default 0.15. Below 0.5, with
                weighted scores, chunks that contain only words that are common in the space may be
                found only by meaning.
            fusion: How the two lists are fused. Default: weighted scores.
            query_embedding: The query's vector; without it, or with a vector of another model, the tier
                embeds the query itself.
            filter: Which chunks may be found.
            as_of: Search the document versions that are valid at this instant. Default: the current
                versions.
            min_score: Leave out hits with a lower score, 0–1. Default, for weighted scores: irrelevant
                hits are left out. A best hit that reaches `relevance_floor` is a match by itself.
                Otherwise the local reranking model reads the first four hits; a hit matches if its
                score and that judgment together suffice. After a match, the others need `list_floor`.
                The thresholds are the model's and grow with the space; for models without known ones
                they are measured in spaces of 200 chunks or more, with questions on unrelated subjects,
                and in smaller spaces nothing is left out.
            text_only: Search only by words; set by a caller that knows that the embedder is
                unavailable, so that the service does not try it again.
            cache: Whether a cached answer may be returned. Default: yes, while nothing in the space has
                changed.
            expansion: How its hits are expanded. Default: NONE.
            rerank: Whether and how the hits are reranked before that. Default: the service's setting.
        """
        request = agent_search_pb2.ExpandedHybridSearchRequest(
            search=vector_search_pb2.HybridSearchRequest(
                query=query,
                limit=limit,
                text_weight=text_weight,
                fusion=enum_value(vector_chunks_pb2.Fusion)(fusion),
                query_embedding=query_embedding,
                filter=filter,
                as_of=timestamp(as_of),
                min_score=min_score,
                text_only=text_only,
                cache=enum_value(common_retrieval_pb2.CacheMode)(cache),
            ),
            expansion=expansion_options(expansion),
            rerank=enum_value(common_reranking_pb2.RerankMode)(rerank),
        )
        answer: agent_search_pb2.ExpandedHybridSearchResponse = await self._call(
            "agent",
            agent_search_pb2_grpc.SearchServiceStub,
            "ExpandedHybridSearch",
            request,
            timeout,
        )
        return answer

    async def cancel_run(self, run_id: str, *, timeout: float | None = None) -> None:
        """Stops a run and the tools that it is running. Has no effect on a run that has ended. A run whose
        answer is saved, because its caller has the scope `write`, can be stopped only with that scope.

        Args:
            run_id: The run.
        """
        request = agent_agent_pb2.CancelRunRequest(run_id=run_id)
        await self._call(
            "agent", agent_agent_pb2_grpc.AgentServiceStub, "CancelRun", request, timeout
        )

    async def create_conversation(
        self, title: str = "", *, timeout: float | None = None
    ) -> agent_agent_pb2.Conversation:
        """Starts a conversation.

        Args:
            title: Its title, at most 200 characters. Empty: taken from the first question.
        """
        request = agent_agent_pb2.CreateConversationRequest(title=title)
        answer: agent_agent_pb2.CreateConversationResponse = await self._call(
            "agent", agent_agent_pb2_grpc.AgentServiceStub, "CreateConversation", request, timeout
        )
        return answer.conversation

    async def get_conversation(
        self,
        conversation_id: str,
        *,
        message_limit: int | None = None,
        timeout: float | None = None,
    ) -> agent_agent_pb2.GetConversationResponse:
        """Returns a conversation with its latest messages.

        Args:
            conversation_id: Its id.
            message_limit: Number of its latest messages, 0–200. Default 50.
        """
        request = agent_agent_pb2.GetConversationRequest(
            conversation_id=conversation_id, message_limit=message_limit
        )
        answer: agent_agent_pb2.GetConversationResponse = await self._call(
            "agent", agent_agent_pb2_grpc.AgentServiceStub, "GetConversation", request, timeout
        )
        return answer

    async def list_conversations(
        self, *, page_size: int = 0, timeout: float | None = None
    ) -> AsyncIterator[agent_agent_pb2.Conversation]:
        """Lists the caller's conversations, most recently used first.

        Args:
            page_size: Maximum number of entries; 0 means the default of 50, values above 200 count as
                200.
        """
        request = agent_agent_pb2.ListConversationsRequest(page_size=page_size)
        async for page in self._pages(
            "agent", agent_agent_pb2_grpc.AgentServiceStub, "ListConversations", request, timeout
        ):
            for one in page.conversations:
                yield one

    async def list_messages(
        self, conversation_id: str, *, page_size: int = 0, timeout: float | None = None
    ) -> AsyncIterator[agent_agent_pb2.Message]:
        """Lists a conversation's messages, latest first.

        Args:
            conversation_id: The conversation.
            page_size: Maximum number of entries; 0 means the default of 50, values above 200 count as
                200.
        """
        request = agent_agent_pb2.ListMessagesRequest(
            conversation_id=conversation_id, page_size=page_size
        )
        async for page in self._pages(
            "agent", agent_agent_pb2_grpc.AgentServiceStub, "ListMessages", request, timeout
        ):
            for one in page.messages:
                yield one

    async def search_messages(
        self,
        query: str,
        *,
        limit: int = 0,
        role: agent_agent_pb2.MessageRole.ValueType | str | None = None,
        timeout: float | None = None,
    ) -> agent_agent_pb2.SearchMessagesResponse:
        """Searches the messages of the caller's conversations by their words. Messages with most of the words
        come first, and of those the latest; at least one word must occur. An empty list if there is none.

        Args:
            query: The words to find, 1–2,000 characters that are not all white space. Forms of a word
                are found, such as `pump` for `pumps`.
            limit: Maximum number of messages; 0 means the default of 10, values above 50 count as 50.
            role: Only messages of this author. Default: of both.
        """
        request = agent_agent_pb2.SearchMessagesRequest(
            query=query, limit=limit, role=enum_value(agent_agent_pb2.MessageRole)(role)
        )
        answer: agent_agent_pb2.SearchMessagesResponse = await self._call(
            "agent", agent_agent_pb2_grpc.AgentServiceStub, "SearchMessages", request, timeout
        )
        return answer

    async def rename_conversation(
        self, conversation_id: str, title: str, *, timeout: float | None = None
    ) -> agent_agent_pb2.Conversation:
        """Gives a conversation another title.

        Args:
            conversation_id: Its id.
            title: Its new title, 1–200 characters that are not all white space.
        """
        request = agent_agent_pb2.RenameConversationRequest(
            conversation_id=conversation_id, title=title
        )
        answer: agent_agent_pb2.RenameConversationResponse = await self._call(
            "agent", agent_agent_pb2_grpc.AgentServiceStub, "RenameConversation", request, timeout
        )
        return answer.conversation

    async def delete_conversation(
        self, conversation_id: str, *, timeout: float | None = None
    ) -> None:
        """Deletes a conversation with its messages and runs.

        Args:
            conversation_id: Its id.
        """
        request = agent_agent_pb2.DeleteConversationRequest(conversation_id=conversation_id)
        await self._call(
            "agent", agent_agent_pb2_grpc.AgentServiceStub, "DeleteConversation", request, timeout
        )

    async def delete_document(
        self, document_id: str, *, keep_versions: bool = False, timeout: float | None = None
    ) -> agent_ingest_pb2.DeleteDocumentResponse:
        """Removes a document with all its versions from both stores: after uploads of it that were accepted
        earlier, and before those accepted later. Once accepted, the deletion is completed in spite of any
        outage. Returns what was removed from each store or, when that takes longer than the caller waits,
        the job that continues. NOT_FOUND for a document that is neither stored nor being ingested.

        Args:
            document_id: The document's id.
            keep_versions: Keeps the document's versions for queries as of earlier times: the document
                ends now instead, and nothing is removed. What is uploaded under its id later continues
                it. Default: removes everything.
        """
        request = agent_ingest_pb2.DeleteDocumentRequest(
            document_id=document_id, keep_versions=keep_versions
        )
        answer: agent_ingest_pb2.DeleteDocumentResponse = await self._call(
            "agent", agent_ingest_pb2_grpc.IngestServiceStub, "DeleteDocument", request, timeout
        )
        return answer

    async def get_job(self, job_id: str, *, timeout: float | None = None) -> agent_jobs_pb2.Job:
        """Returns the current state of a job. NOT_FOUND if the space has no job with this id.

        Args:
            job_id: The job's id.
        """
        request = agent_jobs_pb2.GetJobRequest(job_id=job_id)
        answer: agent_jobs_pb2.GetJobResponse = await self._call(
            "agent", agent_jobs_pb2_grpc.JobServiceStub, "GetJob", request, timeout
        )
        return answer.job

    async def list_jobs(
        self,
        *,
        page_size: int = 0,
        states: Iterable[agent_jobs_pb2.JobState.ValueType | str] = (),
        kinds: Iterable[agent_jobs_pb2.JobKind.ValueType | str] = (),
        timeout: float | None = None,
    ) -> AsyncIterator[agent_jobs_pb2.Job]:
        """Lists a space's jobs, latest first, in pages.

        Args:
            page_size: Maximum number of entries, up to 200; larger values count as 200. 0 means the
                default, 50.
            states: Only jobs in one of these states. Default: all.
            kinds: Only jobs of these kinds. Default: all.
        """
        request = agent_jobs_pb2.ListJobsRequest(
            page_size=page_size,
            states=[enum_value(agent_jobs_pb2.JobState)(one) for one in states],
            kinds=[enum_value(agent_jobs_pb2.JobKind)(one) for one in kinds],
        )
        async for page in self._pages(
            "agent", agent_jobs_pb2_grpc.JobServiceStub, "ListJobs", request, timeout
        ):
            for one in page.jobs:
                yield one

    async def cancel_job(self, job_id: str, *, timeout: float | None = None) -> agent_jobs_pb2.Job:
        """Cancels a job; its documents that are searchable already are still added to the graph. Has no effect
        on a job that has ended or that deletes. NOT_FOUND if the space has no job with this id.

        Args:
            job_id: The job's id.
        """
        request = agent_jobs_pb2.CancelJobRequest(job_id=job_id)
        answer: agent_jobs_pb2.CancelJobResponse = await self._call(
            "agent", agent_jobs_pb2_grpc.JobServiceStub, "CancelJob", request, timeout
        )
        return answer.job

    async def retry_job(self, job_id: str, *, timeout: float | None = None) -> agent_jobs_pb2.Job:
        """Retries the unfinished part of an ended job: documents that failed, and those that were not reached.
        They are written now, after everything that was accepted since. Reason WRONG_STATE while the job
        runs, and when nothing is left to retry. NOT_FOUND if the space has no job with this id.

        Args:
            job_id: The job's id.
        """
        request = agent_jobs_pb2.RetryJobRequest(job_id=job_id)
        answer: agent_jobs_pb2.RetryJobResponse = await self._call(
            "agent", agent_jobs_pb2_grpc.JobServiceStub, "RetryJob", request, timeout
        )
        return answer.job

    async def retry_dead_documents(
        self, *, since_time: datetime | None = None, timeout: float | None = None
    ) -> agent_jobs_pb2.RetryDeadDocumentsResponse:
        """Retries all dead documents of the space, of any number of jobs, as RetryJob does for one job.
        Documents of jobs that are still running, and those whose upload is no longer stored, remain dead.

        Args:
            since_time: Only documents that failed at this time or later. Default: all.
        """
        request = agent_jobs_pb2.RetryDeadDocumentsRequest(since_time=timestamp(since_time))
        answer: agent_jobs_pb2.RetryDeadDocumentsResponse = await self._call(
            "agent", agent_jobs_pb2_grpc.JobServiceStub, "RetryDeadDocuments", request, timeout
        )
        return answer

    async def list_dead_documents(
        self, *, page_size: int = 0, timeout: float | None = None
    ) -> AsyncIterator[agent_jobs_pb2.DeadDocument]:
        """Lists a space's documents that could not be ingested, with their reasons, latest first, in pages.

        Args:
            page_size: Maximum number of entries, up to 200; larger values count as 200. 0 means the
                default, 50.
        """
        request = agent_jobs_pb2.ListDeadDocumentsRequest(page_size=page_size)
        async for page in self._pages(
            "agent", agent_jobs_pb2_grpc.JobServiceStub, "ListDeadDocuments", request, timeout
        ):
            for one in page.documents:
                yield one

    async def check_consistency(
        self, *, max_listed: int | None = None, timeout: float | None = None
    ) -> agent_consistency_pb2.ConsistencyReport:
        """Reads both stores and the jobs, and changes nothing. Data that unfinished jobs are about to write or
        remove is not an inconsistency: it is counted as pending. Takes seconds for a hundred thousand
        chunks; set a suitable deadline.

        Args:
            max_listed: Maximum number of listed entries of each kind, 0–1,000; all are counted. Default
                100.
        """
        request = agent_consistency_pb2.CheckConsistencyRequest(max_listed=max_listed)
        answer: agent_consistency_pb2.CheckConsistencyResponse = await self._call(
            "agent",
            agent_consistency_pb2_grpc.ConsistencyServiceStub,
            "CheckConsistency",
            request,
            timeout,
        )
        return answer.report

    async def repair_consistency(
        self, *, max_listed: int | None = None, apply: bool = False, timeout: float | None = None
    ) -> agent_consistency_pb2.ConsistencyReport:
        """Checks as CheckConsistency does, and with `apply` repairs: data that is missing in one store is
        added from the other, work that failed for possibly temporary reasons is retried, and data that
        somebody stated and that nothing in the other store explains is moved to a quarantine. Nothing that
        somebody stated is deleted. Without `apply` nothing is changed, and the report says what would be
        done. A repeated call, also after an interrupted one, continues with the rest.

        Args:
            max_listed: Maximum number of listed entries of each kind, 0–1,000; all are counted and
                repaired. Default 100.
            apply: Whether to repair. By default nothing is changed, and the report says what a repair
                would do.
        """
        request = agent_consistency_pb2.RepairConsistencyRequest(max_listed=max_listed, apply=apply)
        answer: agent_consistency_pb2.RepairConsistencyResponse = await self._call(
            "agent",
            agent_consistency_pb2_grpc.ConsistencyServiceStub,
            "RepairConsistency",
            request,
            timeout,
        )
        return answer.report

    async def list_quarantines(
        self, *, page_size: int = 0, timeout: float | None = None
    ) -> AsyncIterator[agent_consistency_pb2.Quarantine]:
        """Lists the space's quarantines, newest first. Their data is in no answer until it is restored.

        Args:
            page_size: Maximum number of entries, up to 1,000; larger values count as 1,000. 0 means the
                default, 100.
        """
        request = agent_consistency_pb2.ListQuarantinesRequest(page_size=page_size)
        async for page in self._pages(
            "agent",
            agent_consistency_pb2_grpc.ConsistencyServiceStub,
            "ListQuarantines",
            request,
            timeout,
        ):
            for one in page.quarantines:
                yield one

    async def get_quarantine(
        self,
        quarantine_id: str,
        *,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> agent_consistency_pb2.GetQuarantineResponse:
        """Returns a quarantine and a page of its items. NOT_FOUND if there is none with this id.

        Args:
            quarantine_id: Its id.
            page_size: Maximum number of items, up to 1,000; larger values count as 1,000. 0 means the
                default, 100.
            page_token: Where to continue: `next_page_token` of the previous page. Empty: from the
                start.
        """
        request = agent_consistency_pb2.GetQuarantineRequest(
            quarantine_id=quarantine_id, page_size=page_size, page_token=page_token
        )
        answer: agent_consistency_pb2.GetQuarantineResponse = await self._call(
            "agent",
            agent_consistency_pb2_grpc.ConsistencyServiceStub,
            "GetQuarantine",
            request,
            timeout,
        )
        return answer

    async def restore_quarantine(
        self, quarantine_id: str, *, item_ids: Iterable[str] = (), timeout: float | None = None
    ) -> agent_consistency_pb2.RestoreQuarantineResponse:
        """Restores a whole quarantine, or some of its items, as they were: with their texts, vectors, and
        versions on both clocks. Data of a document that is not ingested is found again as inconsistent by
        the next check, so ingest the document first. A repeated call, also after an interrupted one,
        continues with the rest. NOT_FOUND if there is none with this id.

        Args:
            quarantine_id: The quarantine's id.
            item_ids: Ids of the items to restore, up to 500; empty: all. Unknown items are skipped.
        """
        request = agent_consistency_pb2.RestoreQuarantineRequest(
            quarantine_id=quarantine_id, item_ids=list(item_ids)
        )
        answer: agent_consistency_pb2.RestoreQuarantineResponse = await self._call(
            "agent",
            agent_consistency_pb2_grpc.ConsistencyServiceStub,
            "RestoreQuarantine",
            request,
            timeout,
        )
        return answer

    async def purge_quarantine(
        self, quarantine_id: str, *, timeout: float | None = None
    ) -> agent_consistency_pb2.PurgeQuarantineResponse:
        """Deletes a quarantine and its items for good. NOT_FOUND if there is none with this id.

        Args:
            quarantine_id: Its id.
        """
        request = agent_consistency_pb2.PurgeQuarantineRequest(quarantine_id=quarantine_id)
        answer: agent_consistency_pb2.PurgeQuarantineResponse = await self._call(
            "agent",
            agent_consistency_pb2_grpc.ConsistencyServiceStub,
            "PurgeQuarantine",
            request,
            timeout,
        )
        return answer

    async def get_embedding_models(
        self, *, timeout: float | None = None
    ) -> agent_models_pb2.GetSpaceModelsResponse:
        """Returns the embedding model of the space and the configured embedding model."""
        request = agent_models_pb2.GetSpaceModelsRequest()
        answer: agent_models_pb2.GetSpaceModelsResponse = await self._call(
            "agent", agent_models_pb2_grpc.ModelServiceStub, "GetSpaceModels", request, timeout
        )
        return answer

    async def reembed_space(
        self, *, keep_former: bool = False, timeout: float | None = None
    ) -> agent_models_pb2.StartReembeddingResponse:
        """Embeds all data of the space (chunks, facts, findings, names) with the configured model, as a job of
        kind REEMBED. The space uses its former model until each store has switched. Returns the running job
        if there is one. The job fails if the space has the same model with another dimension, because a
        space can have a model with one dimension only. FAILED_PRECONDITION when vectors of the model have
        another length in the space.

        Args:
            keep_former: Keep the former model's vectors of chunks, which makes it fast to return to it.
                Default: they are removed at the end.
        """
        request = agent_models_pb2.StartReembeddingRequest(keep_former=keep_former)
        answer: agent_models_pb2.StartReembeddingResponse = await self._call(
            "agent", agent_models_pb2_grpc.ModelServiceStub, "StartReembedding", request, timeout
        )
        return answer

    async def reextract_space(
        self, *, timeout: float | None = None
    ) -> agent_models_pb2.StartReextractionResponse:
        """Sends every chunk to the graph again, as a job of kind REEXTRACT: a configured language model then
        reads the chunks that it has not read yet. Returns the running job if there is one."""
        request = agent_models_pb2.StartReextractionRequest()
        answer: agent_models_pb2.StartReextractionResponse = await self._call(
            "agent", agent_models_pb2_grpc.ModelServiceStub, "StartReextraction", request, timeout
        )
        return answer

    async def put_source(
        self,
        name: str,
        kind: agent_sources_pb2.SourceKind.ValueType | str,
        root: str,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        every_minutes: int | None = None,
        credential_variable: str = "",
        with_history: bool = False,
        paused: bool = False,
        timeout: float | None = None,
    ) -> agent_sources_pb2.PutSourceResponse:
        """Sets what a source is, and creates it if there is none of its name. Its last run is kept.

        Args:
            name: Its name: printable, without a slash.
            kind: What it is.
            root: Its path or address, without a password.
            include: Lines of a .gitignore: if there are any, only what they match is read.
            exclude: Lines of a .gitignore: what they match is not read.
            every_minutes: Minutes between two runs of `braid sync --watch`. Not set: it runs only when
                asked to.
            credential_variable: Name of the environment variable with the value of the header
                `Authorization` for a site or a feed.
            with_history: Whether all earlier versions of a git repository's files are read too.
            paused: Whether it is not to be read for now.
        """
        request = agent_sources_pb2.PutSourceRequest(
            name=name,
            kind=enum_value(agent_sources_pb2.SourceKind)(kind),
            root=root,
            include=list(include),
            exclude=list(exclude),
            every_minutes=every_minutes,
            credential_variable=credential_variable,
            with_history=with_history,
            paused=paused,
        )
        answer: agent_sources_pb2.PutSourceResponse = await self._call(
            "agent", agent_sources_pb2_grpc.SourceServiceStub, "PutSource", request, timeout
        )
        return answer

    async def list_sources(
        self, *, timeout: float | None = None
    ) -> agent_sources_pb2.ListSourcesResponse:
        """Returns all sources of the space by name, each with its last run."""
        request = agent_sources_pb2.ListSourcesRequest()
        answer: agent_sources_pb2.ListSourcesResponse = await self._call(
            "agent", agent_sources_pb2_grpc.SourceServiceStub, "ListSources", request, timeout
        )
        return answer

    async def get_source(
        self, name: str, *, timeout: float | None = None
    ) -> agent_sources_pb2.GetSourceResponse:
        """Returns a source with its last run. NOT_FOUND if there is none of this name.

        Args:
            name: Its name.
        """
        request = agent_sources_pb2.GetSourceRequest(name=name)
        answer: agent_sources_pb2.GetSourceResponse = await self._call(
            "agent", agent_sources_pb2_grpc.SourceServiceStub, "GetSource", request, timeout
        )
        return answer

    async def delete_source(
        self, name: str, *, timeout: float | None = None
    ) -> agent_sources_pb2.DeleteSourceResponse:
        """Forgets a source. Its documents stay: those whose ids begin with its name and a slash. NOT_FOUND if
        there is none of this name.

        Args:
            name: Its name.
        """
        request = agent_sources_pb2.DeleteSourceRequest(name=name)
        answer: agent_sources_pb2.DeleteSourceResponse = await self._call(
            "agent", agent_sources_pb2_grpc.SourceServiceStub, "DeleteSource", request, timeout
        )
        return answer

    async def record_source_run(
        self,
        name: str,
        *,
        seconds: float = 0.0,
        added_count: int = 0,
        changed_count: int = 0,
        unchanged_count: int = 0,
        removed_count: int = 0,
        failed_count: int = 0,
        failures: Iterable[str] = (),
        skipped: Iterable[agent_sources_pb2.SkippedFiles] = (),
        error: str = "",
        timeout: float | None = None,
    ) -> agent_sources_pb2.RecordSourceRunResponse:
        """Notes how a run of a source has just ended, in place of its run before. NOT_FOUND if there is no
        source of this name.

        Args:
            name: The source's name.
            seconds: The run's duration in seconds.
            added_count: Number of new documents.
            changed_count: Number of documents with another content than before.
            unchanged_count: Number of documents that were stored as they are.
            removed_count: Number of documents that are no longer in the source.
            failed_count: Number of files that could not be read.
            failures: Some of these, each with the reason.
            skipped: Numbers of files that were skipped, by type.
            error: Why it ended before its end; empty if it did not.
        """
        request = agent_sources_pb2.RecordSourceRunRequest(
            name=name,
            seconds=seconds,
            added_count=added_count,
            changed_count=changed_count,
            unchanged_count=unchanged_count,
            removed_count=removed_count,
            failed_count=failed_count,
            failures=list(failures),
            skipped=list(skipped),
            error=error,
        )
        answer: agent_sources_pb2.RecordSourceRunResponse = await self._call(
            "agent", agent_sources_pb2_grpc.SourceServiceStub, "RecordSourceRun", request, timeout
        )
        return answer

    async def list_spaces(
        self, *, page_size: int = 0, timeout: float | None = None
    ) -> AsyncIterator[agent_spaces_pb2.Space]:
        """Lists the spaces of the installation that have something stored or set, by id. UNAVAILABLE unless
        every store answers.

        Args:
            page_size: Maximum number of spaces, up to 200; larger values count as 200. 0 means the
                default, 50.
        """
        request = agent_spaces_pb2.ListSpacesRequest(page_size=page_size)
        async for page in self._pages(
            "agent", agent_spaces_pb2_grpc.SpaceServiceStub, "ListSpaces", request, timeout
        ):
            for one in page.spaces:
                yield one

    async def create_space(
        self,
        title: str = "",
        *,
        conversation_days: int | None = None,
        memory_days: int | None = None,
        upload_bytes_per_day: int | None = None,
        max_documents: int | None = None,
        timeout: float | None = None,
    ) -> agent_spaces_pb2.CreateSpaceResponse:
        """Creates the caller's space: with a title and limits, before anything is stored in it. A space need
        not be created: it also begins with what is first stored or set. Reason WRONG_STATE if something is
        set for it or stored in it.

        Args:
            title: What to call it.
            conversation_days: Days after its last message after which a conversation is deleted, of any
                user.
            memory_days: Days after which a memory is deleted that was not stored, read or found, of any
                user.
            upload_bytes_per_day: Bytes of uploads that are taken in a day (UTC).
            max_documents: Documents that it may contain; uploads beyond that are refused.
        """
        request = agent_spaces_pb2.CreateSpaceRequest(
            title=title,
            conversation_days=conversation_days,
            memory_days=memory_days,
            upload_bytes_per_day=upload_bytes_per_day,
            max_documents=max_documents,
        )
        answer: agent_spaces_pb2.CreateSpaceResponse = await self._call(
            "agent", agent_spaces_pb2_grpc.SpaceServiceStub, "CreateSpace", request, timeout
        )
        return answer

    async def get_space_usage(
        self, *, timeout: float | None = None
    ) -> agent_spaces_pb2.GetSpaceUsageResponse:
        """Counts what the space contains in each store, with all its users' conversations and memories, and
        its unfinished work. UNAVAILABLE unless every store answers."""
        request = agent_spaces_pb2.GetSpaceUsageRequest()
        answer: agent_spaces_pb2.GetSpaceUsageResponse = await self._call(
            "agent", agent_spaces_pb2_grpc.SpaceServiceStub, "GetSpaceUsage", request, timeout
        )
        return answer

    async def get_space_settings(
        self, *, timeout: float | None = None
    ) -> agent_spaces_pb2.GetSpaceSettingsResponse:
        """Returns what is set for the space."""
        request = agent_spaces_pb2.GetSpaceSettingsRequest()
        answer: agent_spaces_pb2.GetSpaceSettingsResponse = await self._call(
            "agent", agent_spaces_pb2_grpc.SpaceServiceStub, "GetSpaceSettings", request, timeout
        )
        return answer

    async def put_space_settings(
        self,
        *,
        conversation_days: int | None = None,
        memory_days: int | None = None,
        upload_bytes_per_day: int | None = None,
        max_documents: int | None = None,
        title: str = "",
        timeout: float | None = None,
    ) -> agent_spaces_pb2.PutSpaceSettingsResponse:
        """Sets how long the space keeps conversations and memories, and how much it takes in a day, in place
        of what was set. What it keeps no longer is deleted within minutes, by a job of kind RETENTION whose
        `removed` is the receipt.

        Args:
            conversation_days: Days after its last message after which a conversation is deleted, of any
                user.
            memory_days: Days after which a memory is deleted that was not stored, read or found, of any
                user.
            upload_bytes_per_day: Bytes of uploads that are taken in a day (UTC).
            max_documents: Documents that it may contain; uploads beyond that are refused.
            title: What to call it.
        """
        request = agent_spaces_pb2.PutSpaceSettingsRequest(
            conversation_days=conversation_days,
            memory_days=memory_days,
            upload_bytes_per_day=upload_bytes_per_day,
            max_documents=max_documents,
            title=title,
        )
        answer: agent_spaces_pb2.PutSpaceSettingsResponse = await self._call(
            "agent", agent_spaces_pb2_grpc.SpaceServiceStub, "PutSpaceSettings", request, timeout
        )
        return answer

    async def delete_space(
        self, confirm: str, *, timeout: float | None = None
    ) -> agent_spaces_pb2.DeleteSpaceResponse:
        """Deletes everything that the space contains in each store, with all its users' conversations and
        memories, as a job of kind DELETE_SPACE, whose `removed` is the receipt. Nothing of it can be
        restored. Uploads that are accepted meanwhile are read afterwards; the job itself is kept like other
        ended jobs. Returns the running job if there is one. Reason WRONG_STATE while other jobs of the
        space are unfinished.

        Args:
            confirm: The id of the caller's space, as a confirmation; INVALID_ARGUMENT for another one.
        """
        request = agent_spaces_pb2.DeleteSpaceRequest(confirm=confirm)
        answer: agent_spaces_pb2.DeleteSpaceResponse = await self._call(
            "agent", agent_spaces_pb2_grpc.SpaceServiceStub, "DeleteSpace", request, timeout
        )
        return answer

    async def export_space_page(
        self, page_token: str = "", *, timeout: float | None = None
    ) -> agent_transfer_pb2.ExportSpacePageResponse:
        """Returns a page of what the space contains: documents with all versions, chunks and vectors; the
        graph with all versions of its facts; and all users' conversations and memories. Jobs, and keys of
        idempotent calls, are not part of it. All pages are of one state: WRONG_STATE when the space has
        changed since the first page, has unfinished jobs, or is being imported.

        Args:
            page_token: Where to continue: `next_page_token` of the previous page. Empty: from the
                start.
        """
        request = agent_transfer_pb2.ExportSpacePageRequest(page_token=page_token)
        answer: agent_transfer_pb2.ExportSpacePageResponse = await self._call(
            "agent",
            agent_transfer_pb2_grpc.SpaceTransferServiceStub,
            "ExportSpacePage",
            request,
            timeout,
        )
        return answer

    async def start_space_import(
        self, exported_space: str, archive_id: str, *, timeout: float | None = None
    ) -> agent_transfer_pb2.StartSpaceImportResponse:
        """Begins an import into the caller's space, or returns the unfinished one of the same archive.
        WRONG_STATE if the space contains anything, has unfinished jobs, or is being imported from another
        archive. Until FinishSpaceImport, uploads are refused and searches find what has been imported.

        Args:
            exported_space: The id of the space that was exported; INVALID_ARGUMENT unless it is the
                caller's.
            archive_id: What identifies the archive's content, such as the SHA-256 of its manifest.
        """
        request = agent_transfer_pb2.StartSpaceImportRequest(
            exported_space=exported_space, archive_id=archive_id
        )
        answer: agent_transfer_pb2.StartSpaceImportResponse = await self._call(
            "agent",
            agent_transfer_pb2_grpc.SpaceTransferServiceStub,
            "StartSpaceImport",
            request,
            timeout,
        )
        return answer

    async def import_space_page(
        self,
        import_id: str,
        number: int,
        store: agent_jobs_pb2.Store.ValueType | str,
        kind: str,
        *,
        partition: str = "",
        rows: Iterable[str] = (),
        timeout: float | None = None,
    ) -> agent_transfer_pb2.ImportSpacePageResponse:
        """Stores an exported page. Pages must come in the order of the export. A page that was stored before
        changes nothing.

        Args:
            import_id: The import.
            number: The page's number in the archive, counted from 1.
            store: As exported.
            kind: As exported.
            partition: As exported.
            rows: As exported; at most 10,000.
        """
        request = agent_transfer_pb2.ImportSpacePageRequest(
            import_id=import_id,
            number=number,
            store=enum_value(agent_jobs_pb2.Store)(store),
            partition=partition,
            kind=kind,
            rows=list(rows),
        )
        answer: agent_transfer_pb2.ImportSpacePageResponse = await self._call(
            "agent",
            agent_transfer_pb2_grpc.SpaceTransferServiceStub,
            "ImportSpacePage",
            request,
            timeout,
        )
        return answer

    async def finish_space_import(
        self, import_id: str, *, timeout: float | None = None
    ) -> agent_transfer_pb2.FinishSpaceImportResponse:
        """Ends an import after its last page: the space is as it was exported, and takes uploads.

        Args:
            import_id: Its id.
        """
        request = agent_transfer_pb2.FinishSpaceImportRequest(import_id=import_id)
        answer: agent_transfer_pb2.FinishSpaceImportResponse = await self._call(
            "agent",
            agent_transfer_pb2_grpc.SpaceTransferServiceStub,
            "FinishSpaceImport",
            request,
            timeout,
        )
        return answer

    async def save_memory_entity(
        self,
        name: str,
        type: agent_entity_memory_pb2.MemoryEntityType.ValueType | str,
        *,
        aliases: Iterable[str] = (),
        description: str = "",
        confidence: float | None = None,
        provenance: agent_entity_memory_pb2.MemoryProvenance | None = None,
        timeout: float | None = None,
    ) -> agent_entity_memory_pb2.SaveEntityResponse:
        """Saves an entity, or adds evidence to the entity of the same type that has this name or alias. A
        limit that is reached is reported as an outcome in the response, not as an error.

        Args:
            name: Its name, 1–200 characters that are not all white space, without control characters.
            type: What it is.
            aliases: Its other names, at most 20, under the same rules as the name.
            description: What it is, up to 2,000 characters. Default: unchanged.
            confidence: Its confidence, 0–1. Default 0.95.
            provenance: Where it was said.
        """
        request = agent_entity_memory_pb2.SaveEntityRequest(
            name=name,
            type=enum_value(agent_entity_memory_pb2.MemoryEntityType)(type),
            aliases=list(aliases),
            description=description,
            confidence=confidence,
            provenance=provenance,
        )
        answer: agent_entity_memory_pb2.SaveEntityResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "SaveEntity",
            request,
            timeout,
        )
        return answer

    async def save_memory_relationship(
        self,
        type: agent_entity_memory_pb2.MemoryRelationshipType.ValueType | str,
        target: agent_entity_memory_pb2.MemoryEndInput,
        *,
        source: agent_entity_memory_pb2.MemoryEndInput | None = None,
        context: str = "",
        confidence: float | None = None,
        provenance: agent_entity_memory_pb2.MemoryProvenance | None = None,
        role: str = "",
        exclusive: bool = False,
        timeout: float | None = None,
    ) -> agent_entity_memory_pb2.SaveRelationshipResponse:
        """Saves a relationship and the entities that it needs, or adds evidence to the existing relationship.
        Either everything or nothing is saved.

        Args:
            type: The type of the relationship.
            target: Where it leads; must differ from the source.
            source: Where it starts. Default: the user.
            context: The text that states it, up to 2,000 characters. Default: unchanged.
            confidence: Its confidence, 0–1. Default 0.95.
            provenance: Where it was said.
            role: What its target is to the user, such as `boss`. Only without `source`. Default:
                unchanged.
            exclusive: Ends what has the role now, or without a role what has the type: the user moved,
                or has another boss.
        """
        request = agent_entity_memory_pb2.SaveRelationshipRequest(
            source=source,
            type=enum_value(agent_entity_memory_pb2.MemoryRelationshipType)(type),
            target=target,
            context=context,
            confidence=confidence,
            provenance=provenance,
            role=role,
            exclusive=exclusive,
        )
        answer: agent_entity_memory_pb2.SaveRelationshipResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "SaveRelationship",
            request,
            timeout,
        )
        return answer

    async def save_memory_turn(
        self,
        turns: Iterable[str],
        *,
        provenance: agent_entity_memory_pb2.MemoryProvenance | None = None,
        timeout: float | None = None,
    ) -> agent_entity_memory_pb2.SaveTurnResponse:
        """Extracts entities and relationships from the last of the given user messages, and saves them. A
        message that was saved before is not saved again.

        Args:
            turns: The messages: the last one is saved, the earlier ones are context for pronouns and
                corrections. At most 50 messages of up to 200,000 characters each. English only, unless
                a language model is configured.
            provenance: Where the last one was said. The same message of the same conversation is saved
                only once.
        """
        request = agent_entity_memory_pb2.SaveTurnRequest(turns=list(turns), provenance=provenance)
        answer: agent_entity_memory_pb2.SaveTurnResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "SaveTurn",
            request,
            timeout,
        )
        return answer

    async def query_memory_entities(
        self,
        query: str = "",
        *,
        types: Iterable[agent_entity_memory_pb2.MemoryEntityType.ValueType | str] = (),
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> agent_entity_memory_pb2.QueryEntitiesResponse:
        """Finds entities by name, alias, similar spelling and meaning, best first; without a query lists all
        of them, most recently mentioned first.

        Args:
            query: A name or a description, up to 1,000 characters. Default: every entity.
            types: Only entities of these types. Default: all.
            page_size: Maximum number of entries, 0–200; 0 means 20, values above 200 count as 200.
            page_token: `next_page_token` of the previous page; the other fields must be the same.
        """
        request = agent_entity_memory_pb2.QueryEntitiesRequest(
            query=query,
            types=[enum_value(agent_entity_memory_pb2.MemoryEntityType)(one) for one in types],
            page_size=page_size,
            page_token=page_token,
        )
        answer: agent_entity_memory_pb2.QueryEntitiesResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "QueryEntities",
            request,
            timeout,
        )
        return answer

    async def query_memory_relationships(
        self,
        *,
        types: Iterable[agent_entity_memory_pb2.MemoryRelationshipType.ValueType | str] = (),
        entity_id: str = "",
        page_size: int = 0,
        as_of: datetime | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[agent_entity_memory_pb2.MemoryRelationship]:
        """Lists relationships, most recently mentioned first.

        Args:
            types: Only relationships of these types. Default: all.
            entity_id: Only relationships of this entity. NOT_FOUND when the caller has none of this id.
                Default: all.
            page_size: Maximum number of entries, 0–200; 0 means 20, values above 200 count as 200.
            as_of: Relationships that held at this time, as far as it had been said by then, ended ones
                too. Default: those that hold now.
        """
        request = agent_entity_memory_pb2.QueryRelationshipsRequest(
            types=[
                enum_value(agent_entity_memory_pb2.MemoryRelationshipType)(one) for one in types
            ],
            entity_id=entity_id,
            page_size=page_size,
            as_of=timestamp(as_of),
        )
        async for page in self._pages(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "QueryRelationships",
            request,
            timeout,
        ):
            for one in page.relationships:
                yield one

    async def list_related_entities(
        self,
        entity_id: str = "",
        *,
        max_hops: int = 0,
        types: Iterable[agent_entity_memory_pb2.MemoryRelationshipType.ValueType | str] = (),
        page_size: int = 0,
        timeout: float | None = None,
    ) -> AsyncIterator[agent_entity_memory_pb2.RelatedMemoryEntity]:
        """Returns entities one or two relationships away from an entity, or from the user.

        Args:
            entity_id: Its id. Default: the user.
            max_hops: Maximum distance in relationships, 1–2; 0 means 1.
            types: Only along relationships of these types. Default: all.
            page_size: Maximum number of entries, 0–200; 0 means 20, values above 200 count as 200.
        """
        request = agent_entity_memory_pb2.GetRelatedEntitiesRequest(
            entity_id=entity_id,
            max_hops=max_hops,
            types=[
                enum_value(agent_entity_memory_pb2.MemoryRelationshipType)(one) for one in types
            ],
            page_size=page_size,
        )
        async for page in self._pages(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "GetRelatedEntities",
            request,
            timeout,
        ):
            for one in page.related:
                yield one

    async def query_memory(
        self,
        query: str,
        *,
        entity_type: agent_entity_memory_pb2.MemoryEntityType.ValueType | str | None = None,
        relationship_type: agent_entity_memory_pb2.MemoryRelationshipType.ValueType
        | str
        | None = None,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> agent_entity_memory_pb2.AnswerRelationshipQueryResponse:
        """Finds relationships that answer a question in natural language, such as "What do I use for
        monitoring?", best first.

        Args:
            query: The question in natural language, 1–1,000 characters.
            entity_type: Only relationships with an entity of this type. Default: the type that the
                question contains, if any.
            relationship_type: Only relationships of this type. Default: the type that the question
                contains, if any.
            page_size: Maximum number of entries, 0–200; 0 means 20, values above 200 count as 200.
            page_token: `next_page_token` of the previous page; the other fields must be the same.
        """
        request = agent_entity_memory_pb2.AnswerRelationshipQueryRequest(
            query=query,
            entity_type=enum_value(agent_entity_memory_pb2.MemoryEntityType)(entity_type),
            relationship_type=enum_value(agent_entity_memory_pb2.MemoryRelationshipType)(
                relationship_type
            ),
            page_size=page_size,
            page_token=page_token,
        )
        answer: agent_entity_memory_pb2.AnswerRelationshipQueryResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "AnswerRelationshipQuery",
            request,
            timeout,
        )
        return answer

    async def merge_memory_entities(
        self, entity_id: str, other_entity_id: str, *, timeout: float | None = None
    ) -> agent_entity_memory_pb2.MemoryEntity:
        """Merges two entities: the names of the other entity become aliases, and its relationships move.

        Args:
            entity_id: The entity that remains.
            other_entity_id: The entity that is merged into it.
        """
        request = agent_entity_memory_pb2.MergeEntitiesRequest(
            entity_id=entity_id, other_entity_id=other_entity_id
        )
        answer: agent_entity_memory_pb2.MergeEntitiesResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "MergeEntities",
            request,
            timeout,
        )
        return answer.entity

    async def rename_memory_entity(
        self, entity_id: str, name: str, *, timeout: float | None = None
    ) -> agent_entity_memory_pb2.MemoryEntity:
        """Renames an entity; the former name becomes an alias. WRONG_STATE when another entity of the type has
        the name.

        Args:
            entity_id: Its id.
            name: Its new name, 1–200 characters that are not all white space, without control
                characters.
        """
        request = agent_entity_memory_pb2.RenameEntityRequest(entity_id=entity_id, name=name)
        answer: agent_entity_memory_pb2.RenameEntityResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "RenameEntity",
            request,
            timeout,
        )
        return answer.entity

    async def delete_memory_entity(
        self, entity_id: str, *, timeout: float | None = None
    ) -> agent_entity_memory_pb2.DeleteEntityResponse:
        """Deletes an entity and its relationships. RestoreEntity restores them.

        Args:
            entity_id: Its id.
        """
        request = agent_entity_memory_pb2.DeleteEntityRequest(entity_id=entity_id)
        answer: agent_entity_memory_pb2.DeleteEntityResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "DeleteEntity",
            request,
            timeout,
        )
        return answer

    async def restore_memory_entity(
        self, entity_id: str, *, timeout: float | None = None
    ) -> agent_entity_memory_pb2.RestoreEntityResponse:
        """Restores a deleted entity with the relationships that were deleted with it. WRONG_STATE when it was
        merged into another entity, or when another entity has its name now.

        Args:
            entity_id: Its id.
        """
        request = agent_entity_memory_pb2.RestoreEntityRequest(entity_id=entity_id)
        answer: agent_entity_memory_pb2.RestoreEntityResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "RestoreEntity",
            request,
            timeout,
        )
        return answer

    async def delete_memory_relationship(
        self, relationship_id: str, *, timeout: float | None = None
    ) -> agent_entity_memory_pb2.DeleteRelationshipResponse:
        """Deletes a relationship as though it had never been said: what it had taken the place of, such as a
        former boss, holds again.

        Args:
            relationship_id: Its id.
        """
        request = agent_entity_memory_pb2.DeleteRelationshipRequest(relationship_id=relationship_id)
        answer: agent_entity_memory_pb2.DeleteRelationshipResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "DeleteRelationship",
            request,
            timeout,
        )
        return answer

    async def get_memory_quota(
        self, conversation_id: str = "", *, timeout: float | None = None
    ) -> agent_entity_memory_pb2.GetMemoryQuotaResponse:
        """Returns how much may still be saved today and in a conversation.

        Args:
            conversation_id: The conversation, up to 200 characters. Default: none; only the day's quota
                is returned.
        """
        request = agent_entity_memory_pb2.GetMemoryQuotaRequest(conversation_id=conversation_id)
        answer: agent_entity_memory_pb2.GetMemoryQuotaResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "GetMemoryQuota",
            request,
            timeout,
        )
        return answer

    async def export_memory(
        self, *, page_size: int = 0, page_token: str = "", timeout: float | None = None
    ) -> agent_entity_memory_pb2.ExportUserMemoryResponse:
        """Exports all data of the user in pages, including deleted data: entities first, then relationships.

        Args:
            page_size: Maximum number of entries, 0–1,000; 0 means 200, values above 1,000 count as
                1,000.
            page_token: `next_page_token` of the previous page.
        """
        request = agent_entity_memory_pb2.ExportUserMemoryRequest(
            page_size=page_size, page_token=page_token
        )
        answer: agent_entity_memory_pb2.ExportUserMemoryResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "ExportUserMemory",
            request,
            timeout,
        )
        return answer

    async def list_dead_memory_writes(
        self, *, page_size: int = 0, timeout: float | None = None
    ) -> AsyncIterator[agent_entity_memory_pb2.DeadMemoryWrite]:
        """Lists what was accepted to be saved and failed for good, such as messages that could not be read,
        with reasons, latest first. Kept for 30 days.

        Args:
            page_size: Maximum number of entries, up to 200; larger values count as 200. 0 means the
                default, 20.
        """
        request = agent_entity_memory_pb2.ListDeadMemoryWritesRequest(page_size=page_size)
        async for page in self._pages(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "ListDeadMemoryWrites",
            request,
            timeout,
        ):
            for one in page.writes:
                yield one

    async def retry_dead_memory_writes(
        self, *, timeout: float | None = None
    ) -> agent_entity_memory_pb2.RetryDeadMemoryWritesResponse:
        """Queues all of the user's writes that failed for good again."""
        request = agent_entity_memory_pb2.RetryDeadMemoryWritesRequest()
        answer: agent_entity_memory_pb2.RetryDeadMemoryWritesResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "RetryDeadMemoryWrites",
            request,
            timeout,
        )
        return answer

    async def erase_memory(
        self, *, timeout: float | None = None
    ) -> agent_entity_memory_pb2.EraseUserMemoryResponse:
        """Erases all data of the user permanently, including pending writes."""
        request = agent_entity_memory_pb2.EraseUserMemoryRequest()
        answer: agent_entity_memory_pb2.EraseUserMemoryResponse = await self._call(
            "agent",
            agent_entity_memory_pb2_grpc.EntityMemoryServiceStub,
            "EraseUserMemory",
            request,
            timeout,
        )
        return answer

    async def create_memory(
        self,
        content: str,
        type: str = "",
        *,
        title: str = "",
        tags: Iterable[str] = (),
        importance: float | None = None,
        session_id: str = "",
        metadata: Mapping[str, Any] | None = None,
        relations: Iterable[agent_memories_pb2.MemoryRelationInput] = (),
        skip_inference: bool = False,
        timeout: float | None = None,
    ) -> agent_memories_pb2.CreateMemoryResponse:
        """Stores a memory with its relations, all or nothing. A memory with the same text, type and session is
        the same memory: it is returned as it is, and gets these relations in addition. When the call
        returns, searches find the memory and follow its relations. If the graph is too busy to store its
        part, or then to infer and read relations, within 2 s each, the answer has no relations, and a job
        of kind JOB_KIND_INFER stores and infers them.

        Args:
            content: Its text, 1–32,768 characters that are not all white space.
            type: Its type, one of the space's (GetMemoryTypes), letter case ignored. Default CONTEXT.
            title: Its title, up to 1,000 characters; it is searched together with the text.
            tags: Its tags, at most 32 distinct ones of 1–100 characters.
            importance: Its importance, 0–1. Default 0.5.
            session_id: The session that it belongs to, up to 200 characters: it FOLLOWS the session's
                last memory. WRONG_STATE once the session is closed. Default: none.
            metadata: Further metadata, at most 64 KiB as a message.
            relations: Its relations, at most 100.
            skip_inference: Do not infer relations for it now. Default: relations by similarity, and
                from a solution to an error, are inferred.
        """
        request = agent_memories_pb2.CreateMemoryRequest(
            type=type,
            title=title,
            content=content,
            tags=list(tags),
            importance=importance,
            session_id=session_id,
            metadata=struct(metadata),
            relations=list(relations),
            skip_inference=skip_inference,
        )
        answer: agent_memories_pb2.CreateMemoryResponse = await self._call(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "CreateMemory", request, timeout
        )
        return answer

    async def get_memory(
        self, memory_id: str, *, timeout: float | None = None
    ) -> agent_memories_pb2.GetMemoryResponse:
        """Returns a memory with its relations. The call counts as an access if the caller has the scope
        `write`. NOT_FOUND if the memory does not exist.

        Args:
            memory_id: Its id.
        """
        request = agent_memories_pb2.GetMemoryRequest(memory_id=memory_id)
        answer: agent_memories_pb2.GetMemoryResponse = await self._call(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "GetMemory", request, timeout
        )
        return answer

    async def list_memories(
        self,
        *,
        types: Iterable[str] = (),
        session_id: str = "",
        page_size: int = 0,
        timeout: float | None = None,
    ) -> AsyncIterator[agent_memories_pb2.Memory]:
        """Lists the caller's memories, newest first, in pages, without their relations.

        Args:
            types: Only memories of these types, letter case ignored, at most 32. Default: all.
            session_id: Only memories of this session. Default: all.
            page_size: Maximum number of entries, up to 200; larger values count as 200. 0 means the
                default, 50.
        """
        request = agent_memories_pb2.ListMemoriesRequest(
            types=list(types), session_id=session_id, page_size=page_size
        )
        async for page in self._pages(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "ListMemories", request, timeout
        ):
            for one in page.memories:
                yield one

    async def update_memory(
        self,
        memory_id: str,
        *,
        type: str | None = None,
        title: str | None = None,
        content: str | None = None,
        tags: Iterable[str] = (),
        clear_tags: bool = False,
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> agent_memories_pb2.UpdateMemoryResponse:
        """Changes a memory; what is not given stays. Another text or type makes it a memory with another id,
        which takes over its relations, and what it said before is its past; searches find only what it says
        now. NOT_FOUND if the memory does not exist, WRONG_STATE for another text or type in a session that
        is closed.

        Args:
            memory_id: Its id.
            type: Its type, one of the space's, letter case ignored. Default: unchanged.
            title: Its title, up to 1,000 characters. Default: unchanged.
            content: Its text, 1–32,768 characters that are not all white space. Default: unchanged.
            tags: Its tags, at most 32 distinct ones of 1–100 characters. Default: unchanged.
            clear_tags: Removes its tags, if none are given.
            importance: Its importance, 0–1. Default: unchanged.
            metadata: Further metadata in place of all that it has, at most 64 KiB as a message.
                Default: unchanged.
        """
        request = agent_memories_pb2.UpdateMemoryRequest(
            memory_id=memory_id,
            type=type,
            title=title,
            content=content,
            tags=list(tags),
            clear_tags=clear_tags,
            importance=importance,
            metadata=struct(metadata),
        )
        answer: agent_memories_pb2.UpdateMemoryResponse = await self._call(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "UpdateMemory", request, timeout
        )
        return answer

    async def delete_memory(
        self, memory_id: str, *, timeout: float | None = None
    ) -> agent_memories_pb2.DeleteMemoryResponse:
        """Removes a memory with its relations and its past. NOT_FOUND if the memory does not exist.

        Args:
            memory_id: Its id.
        """
        request = agent_memories_pb2.DeleteMemoryRequest(memory_id=memory_id)
        answer: agent_memories_pb2.DeleteMemoryResponse = await self._call(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "DeleteMemory", request, timeout
        )
        return answer

    async def relate_memory(
        self,
        memory_id: str,
        target_id: str,
        relation_type: graph_relations_pb2.ChunkRelationType.ValueType | str,
        *,
        strength: float | None = None,
        valid_time: datetime | None = None,
        invalid_time: datetime | None = None,
        timeout: float | None = None,
    ) -> agent_memories_pb2.PutMemoryRelationResponse:
        """Stores a relation between two memories of the caller, or changes the existing one. NOT_FOUND if the
        memory does not exist.

        Args:
            memory_id: The memory that it starts at.
            target_id: The memory that the relation leads to, one of the caller's.
            relation_type: The type of the relation, from the stored memory to the other one.
            strength: How strong it is, 0–1. Default 1.
            valid_time: Start of its validity; unset: open.
            invalid_time: End of its validity, exclusive; unset: open.
        """
        request = agent_memories_pb2.PutMemoryRelationRequest(
            memory_id=memory_id,
            relation=agent_memories_pb2.MemoryRelationInput(
                target_id=target_id,
                relation_type=enum_value(graph_relations_pb2.ChunkRelationType)(relation_type),
                strength=strength,
                valid_time=timestamp(valid_time),
                invalid_time=timestamp(invalid_time),
            ),
        )
        answer: agent_memories_pb2.PutMemoryRelationResponse = await self._call(
            "agent",
            agent_memories_pb2_grpc.MemoryServiceStub,
            "PutMemoryRelation",
            request,
            timeout,
        )
        return answer

    async def unrelate_memory(
        self,
        memory_id: str,
        target_id: str,
        *,
        relation_type: graph_relations_pb2.ChunkRelationType.ValueType | str | None = None,
        timeout: float | None = None,
    ) -> agent_memories_pb2.DeleteMemoryRelationResponse:
        """Removes a relation between two memories. An inferred one that was removed is not inferred again.

        Args:
            memory_id: The memory that it starts at.
            target_id: The memory that it leads to.
            relation_type: The type of the relation. Default: relations of every type between the two,
                in this direction.
        """
        request = agent_memories_pb2.DeleteMemoryRelationRequest(
            memory_id=memory_id,
            target_id=target_id,
            relation_type=enum_value(graph_relations_pb2.ChunkRelationType)(relation_type),
        )
        answer: agent_memories_pb2.DeleteMemoryRelationResponse = await self._call(
            "agent",
            agent_memories_pb2_grpc.MemoryServiceStub,
            "DeleteMemoryRelation",
            request,
            timeout,
        )
        return answer

    async def search_memories(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: agent_memories_pb2.MemorySearchMode.ValueType | str | None = None,
        types: Iterable[str] = (),
        tags: Iterable[str] = (),
        session_id: str = "",
        min_score: float | None = None,
        cache: common_retrieval_pb2.CacheMode.ValueType | str | None = None,
        rerank: common_reranking_pb2.RerankMode.ValueType | str | None = None,
        expansion: ExpansionLike | None = None,
        keep_ranking: bool = False,
        timeout: float | None = None,
    ) -> agent_memories_pb2.SearchMemoriesResponse:
        """Finds memories that answer a question, on request reranked and expanded along relations. Each hit
        counts as an access if the caller has the scope `write`.

        Args:
            query: The question, 1–4,096 characters that are not all white space.
            limit: Maximum number of memories, 1–50. Default 10.
            mode: How to search. Default: by meaning and words.
            types: Only memories of these types, letter case ignored, at most 32. Default: all. It does
                not apply to memories that an expansion adds.
            tags: Only memories with all of these tags, at most 32.
            session_id: Only memories of this session. Default: all.
            min_score: Leave out memories with a lower search score, 0–1. Default: irrelevant memories
                are left out.
            cache: Whether a cached answer may be returned. Default: yes, while nothing has changed.
            rerank: How to rerank. Default: the service's setting, or LOCAL where that is NONE.
            expansion: How to expand along relations: FORMULA or NONE. Default: NONE.
            keep_ranking: Keep the order and the scores, and return related memories in `related`.
        """
        request = agent_memories_pb2.SearchMemoriesRequest(
            query=query,
            limit=limit,
            mode=enum_value(agent_memories_pb2.MemorySearchMode)(mode),
            types=list(types),
            tags=list(tags),
            session_id=session_id,
            min_score=min_score,
            cache=enum_value(common_retrieval_pb2.CacheMode)(cache),
            rerank=enum_value(common_reranking_pb2.RerankMode)(rerank),
            expansion=expansion_options(expansion),
            keep_ranking=keep_ranking,
        )
        answer: agent_memories_pb2.SearchMemoriesResponse = await self._call(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "SearchMemories", request, timeout
        )
        return answer

    async def close_memory_session(
        self, session_id: str, *, timeout: float | None = None
    ) -> agent_memories_pb2.CloseMemorySessionResponse:
        """Closes a session: stores a summary of its memories, of type SESSION_SUMMARY; each of the memories is
        PART_OF it.

        Args:
            session_id: Its id.
        """
        request = agent_memories_pb2.CloseMemorySessionRequest(session_id=session_id)
        answer: agent_memories_pb2.CloseMemorySessionResponse = await self._call(
            "agent",
            agent_memories_pb2_grpc.MemoryServiceStub,
            "CloseMemorySession",
            request,
            timeout,
        )
        return answer

    async def get_memory_types(
        self, *, timeout: float | None = None
    ) -> agent_memories_pb2.GetMemoryTypesResponse:
        """Returns the types that memories of the space may have."""
        request = agent_memories_pb2.GetMemoryTypesRequest()
        answer: agent_memories_pb2.GetMemoryTypesResponse = await self._call(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "GetMemoryTypes", request, timeout
        )
        return answer

    async def put_memory_types(
        self, types: Iterable[str], *, timeout: float | None = None
    ) -> agent_memories_pb2.PutMemoryTypesResponse:
        """Replaces the types for new memories. Existing memories keep their types.

        Args:
            types: Their names: a letter, then letters, digits and underscores; 1–100. SESSION_SUMMARY
                is always included.
        """
        request = agent_memories_pb2.PutMemoryTypesRequest(types=list(types))
        answer: agent_memories_pb2.PutMemoryTypesResponse = await self._call(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "PutMemoryTypes", request, timeout
        )
        return answer

    async def run_memory_inference(
        self, *, memory_limit: int = 0, timeout: float | None = None
    ) -> agent_memories_pb2.RunMemoryInferenceResponse:
        """Infers relations between the caller's memories: from similarity, from errors and their successors,
        and from joint accesses. Removes inferred relations whose evidence no longer applies. Returns when
        the inference is complete; for many memories use StartMemoryInference.

        Args:
            memory_limit: Maximum number of examined memories, newest first, up to 500; larger values
                count as 500. 0 means the default, 100.
        """
        request = agent_memories_pb2.RunMemoryInferenceRequest(memory_limit=memory_limit)
        answer: agent_memories_pb2.RunMemoryInferenceResponse = await self._call(
            "agent",
            agent_memories_pb2_grpc.MemoryServiceStub,
            "RunMemoryInference",
            request,
            timeout,
        )
        return answer

    async def start_memory_inference(
        self, *, memory_limit: int = 0, timeout: float | None = None
    ) -> agent_memories_pb2.StartMemoryInferenceResponse:
        """Starts the same inference as a job, which continues after the call and survives restarts. If a job
        of the caller is waiting or running, returns that job.

        Args:
            memory_limit: Maximum number of examined memories, newest first. 0 means the default: all of
                them.
        """
        request = agent_memories_pb2.StartMemoryInferenceRequest(memory_limit=memory_limit)
        answer: agent_memories_pb2.StartMemoryInferenceResponse = await self._call(
            "agent",
            agent_memories_pb2_grpc.MemoryServiceStub,
            "StartMemoryInference",
            request,
            timeout,
        )
        return answer

    async def get_memory_stats(
        self, *, timeout: float | None = None
    ) -> agent_memories_pb2.GetMemoryStatsResponse:
        """Returns counts of the caller's memories and relations."""
        request = agent_memories_pb2.GetMemoryStatsRequest()
        answer: agent_memories_pb2.GetMemoryStatsResponse = await self._call(
            "agent", agent_memories_pb2_grpc.MemoryServiceStub, "GetMemoryStats", request, timeout
        )
        return answer

    async def get_profile(
        self, *, limit: int = 0, timeout: float | None = None
    ) -> agent_profile_pb2.GetProfileResponse:
        """Returns what is known about the user, latest first, each with the sentence that said it.

        Args:
            limit: Maximum number of items of each part, up to 200; larger values count as 200. 0 means
                the default, 50.
        """
        request = agent_profile_pb2.GetProfileRequest(limit=limit)
        answer: agent_profile_pb2.GetProfileResponse = await self._call(
            "agent", agent_profile_pb2_grpc.ProfileServiceStub, "GetProfile", request, timeout
        )
        return answer

    async def get_context(
        self, query: str, *, max_tokens: int | None = None, timeout: float | None = None
    ) -> agent_profile_pb2.GetContextResponse:
        """Returns what is known about the user as one text for a prompt: what is relevant to a question first,
        then what was said last, as much as fits. Found memories count as accesses if the caller has the
        scope `write`. If they cannot be searched, the text has the rest, and `memory_leg` says why.

        Args:
            query: The question, 1–4,096 characters that are not all white space.
            max_tokens: Maximum length of the text in tokens, 20–16,000. Default 1,000. A token is
                estimated as four bytes of UTF-8.
        """
        request = agent_profile_pb2.GetContextRequest(query=query, max_tokens=max_tokens)
        answer: agent_profile_pb2.GetContextResponse = await self._call(
            "agent", agent_profile_pb2_grpc.ProfileServiceStub, "GetContext", request, timeout
        )
        return answer

    async def search_facts(
        self,
        query: str,
        *,
        limit: int | None = None,
        entity_name: str = "",
        relation_type: str = "",
        query_embedding: common_retrieval_pb2.QueryEmbedding | None = None,
        as_of: TimeLike | None = None,
        text_only: bool = False,
        reranker: graph_query_pb2.FactReranker.ValueType | str | None = None,
        center_entity_name: str = "",
        center_entity_type: str = "",
        mmr_lambda: float | None = None,
        known_time: datetime | None = None,
        min_score: float | None = None,
        timeout: float | None = None,
    ) -> graph_query_pb2.SearchFactsResponse:
        """Finds facts that answer a question, by full text and by similarity, fused. A search that would have
        to wait longer than 0.2 seconds (a setting) is refused: RESOURCE_EXHAUSTED, with the delay before a
        retry.

        Args:
            query: The question, 1–4,096 characters that are not all white space. Any text is safe:
                there is no query syntax.
            limit: Maximum number of facts, 1–50. Default 10.
            entity_name: Only facts with this entity at either end: exact name, letter case ignored.
            relation_type: Only facts of this relation: its whole name, letter case and accents ignored.
            query_embedding: The query's vector; without it, or with a vector of another model, the tier
                embeds the query itself, if the space has vectors.
            as_of: The time to which the answer refers. Default: now.
            text_only: Search only by words; set by a caller that knows that the embedder is
                unavailable, so that the service does not try it again.
            reranker: How the found facts are ordered. Default: by relevance.
            center_entity_name: For NODE_DISTANCE: the entity to measure from, exact name, letter case
                ignored. Default: `entity_name`.
            center_entity_type: For NODE_DISTANCE: only the entity of this type, if several share the
                name. Empty: all of them.
            mmr_lambda: For MMR: the weight of relevance, 0–1; the rest is the weight of dissimilarity
                to the preceding facts. Default 0.5.
            known_time: Only facts that were known at this instant, as they were known then. Default: as
                they are known now. Co-occurrences are left out; facts that were withdrawn since are
                found by their words.
            min_score: Leave out facts with a lower score, 0–1. Default: irrelevant facts are left out.
                A fact with a vector needs the model's threshold (bge-small-en-v1.5: 0.47); if none
                reaches it, the local reranking model reads the first four. A fact without a vector
                needs a third of the question's words, a local fact two fifths of them. 0 lists
                everything.
        """
        request = graph_query_pb2.SearchFactsRequest(
            query=query,
            limit=limit,
            entity_name=entity_name,
            relation_type=relation_type,
            query_embedding=query_embedding,
            as_of=time_selector(as_of),
            text_only=text_only,
            reranker=enum_value(graph_query_pb2.FactReranker)(reranker),
            center_entity_name=center_entity_name,
            center_entity_type=center_entity_type,
            mmr_lambda=mmr_lambda,
            known_time=timestamp(known_time),
            min_score=min_score,
        )
        answer: graph_query_pb2.SearchFactsResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "SearchFacts", request, timeout
        )
        return answer

    async def get_neighborhood(
        self,
        entity_name: str,
        *,
        entity_type: str = "",
        limit: int | None = None,
        as_of: TimeLike | None = None,
        timeout: float | None = None,
    ) -> graph_query_pb2.GetNeighborhoodResponse:
        """Returns an entity's direct neighbors and the facts that connect them. NOT_FOUND if the entity does
        not exist.

        Args:
            entity_name: The entity's exact name, ignoring letter case and repeated white space, 1–1,000
                characters.
            entity_type: Only the entity of this type, if several share the name. Empty: the entity that
                is mentioned most.
            limit: Maximum number of neighbors, 1–100. Default 20.
            as_of: The time to which the answer refers. Default: now.
        """
        request = graph_query_pb2.GetNeighborhoodRequest(
            entity_name=entity_name,
            entity_type=entity_type,
            limit=limit,
            as_of=time_selector(as_of),
        )
        answer: graph_query_pb2.GetNeighborhoodResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "GetNeighborhood", request, timeout
        )
        return answer

    async def list_entities(
        self,
        type: str = "",
        *,
        page_size: int = 0,
        order_by: graph_query_pb2.EntityOrder.ValueType | str | None = None,
        document_titles: graph_query_pb2.DocumentTitles.ValueType | str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[graph_facts_pb2.Entity]:
        """Lists the space's entities, by name or most mentioned first, in pages that remain stable during
        writes.

        Args:
            type: Only entities of this type. Empty: all.
            page_size: Maximum number of entries, up to 200; larger values count as 200. 0 means the
                default, 50.
            order_by: The order. Default: by name.
            document_titles: How to treat documents' titles. Default: include them.
        """
        request = graph_query_pb2.ListEntitiesRequest(
            type=type,
            page_size=page_size,
            order_by=enum_value(graph_query_pb2.EntityOrder)(order_by),
            document_titles=enum_value(graph_query_pb2.DocumentTitles)(document_titles),
        )
        async for page in self._pages(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "ListEntities", request, timeout
        ):
            for one in page.entities:
                yield one

    async def list_facts(
        self,
        *,
        subject: EntityLike | None = None,
        relation_type: str = "",
        object: EntityLike | None = None,
        as_of: TimeLike | None = None,
        known_time: datetime | None = None,
        page_size: int = 0,
        timeout: float | None = None,
    ) -> AsyncIterator[graph_facts_pb2.Fact]:
        """Lists stated facts by subject, relation, object and time, in pages that remain stable during writes.

        Args:
            subject: Only facts with this entity as subject (every entity with the name, if several
                share it).
            relation_type: Only facts of this relation: its whole name, letter case and accents ignored.
                Empty: all.
            object: Only facts with this entity as object (every entity with the name, if several share
                it).
            as_of: The time to which the answer refers: an instant, or a range that facts overlap.
                Default: now. A range without ends means all time.
            known_time: As it was known at this instant. Default: as it is known now.
            page_size: Maximum number of entries, up to 200; larger values count as 200. 0 means the
                default, 50.
        """
        request = graph_structure_pb2.ListFactsRequest(
            subject=entity_selector(subject),
            relation_type=relation_type,
            object=entity_selector(object),
            as_of=time_selector(as_of),
            known_time=timestamp(known_time),
            page_size=page_size,
        )
        async for page in self._pages(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "ListFacts", request, timeout
        ):
            for one in page.facts:
                yield one

    async def get_fact(
        self, fact_id: str, *, timeout: float | None = None
    ) -> graph_structure_pb2.GetFactResponse:
        """Returns a fact with all its versions.

        Args:
            fact_id: The fact's id. Ids of other spaces are unknown.
        """
        request = graph_structure_pb2.GetFactRequest(fact_id=fact_id)
        answer: graph_structure_pb2.GetFactResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "GetFact", request, timeout
        )
        return answer

    async def get_entity(
        self, entity: EntityLike, *, timeout: float | None = None
    ) -> graph_entities_pb2.GetEntityResponse:
        """Returns an entity by its exact name or its id; if several entities share the name, all are returned.

        Args:
            entity: The entity.
        """
        request = graph_entities_pb2.GetEntityRequest(entity=entity_selector(entity))
        answer: graph_entities_pb2.GetEntityResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "GetEntity", request, timeout
        )
        return answer

    async def get_entity_history(
        self,
        entity: EntityLike,
        *,
        relation_type: str = "",
        since_time: datetime | None = None,
        as_of: datetime | None = None,
        known_time: datetime | None = None,
        page_size: int = 0,
        page_token: str = "",
        include_withdrawn: bool = False,
        timeout: float | None = None,
    ) -> graph_history_pb2.GetEntityHistoryResponse:
        """Returns an entity's facts, current and past, in time order, with a summary of the history. NOT_FOUND
        if the entity does not exist.

        Args:
            entity: The entity.
            relation_type: Only facts of this relation: its whole name, letter case and accents ignored.
                Empty: all.
            since_time: Only facts that were valid at or after this instant: facts that ended by then
                are left out. Default: from the beginning.
            as_of: The instant that counts as now: for `current`, `never_changed` and
                `unchanged_since_time`. Facts that begin later are listed as well. Default: now.
            known_time: As it was known at this instant. Default: as it is known now.
            page_size: Maximum number of facts, up to 200; larger values count as 200. 0 means the
                default, 50.
            page_token: Where to continue: `next_page_token` of the previous page, for the same request.
            include_withdrawn: Also return the facts that were withdrawn or replaced by a correction, in
                `withdrawn`. Default: they do not appear.
        """
        request = graph_history_pb2.GetEntityHistoryRequest(
            entity=entity_selector(entity),
            relation_type=relation_type,
            since_time=timestamp(since_time),
            as_of=timestamp(as_of),
            known_time=timestamp(known_time),
            page_size=page_size,
            page_token=page_token,
            include_withdrawn=include_withdrawn,
        )
        answer: graph_history_pb2.GetEntityHistoryResponse = await self._call(
            "graph",
            graph_query_pb2_grpc.GraphQueryServiceStub,
            "GetEntityHistory",
            request,
            timeout,
        )
        return answer

    async def get_graph_snapshot(
        self,
        as_of: TimeLike,
        *,
        entity: EntityLike | None = None,
        relation_type: str = "",
        known_time: datetime | None = None,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> graph_history_pb2.GetSnapshotResponse:
        """Returns the facts that held at a time, and the changes since.

        Args:
            as_of: The time of the snapshot: an instant, or a range for facts that held at any moment of
                it.
            entity: Only facts with this entity at either end (every entity with the name, if several
                share it). Default: the whole space.
            relation_type: Only facts of this relation: its whole name, letter case and accents ignored.
                Empty: all.
            known_time: As it was known at this instant. Default: as it is known now.
            page_size: Maximum number of facts, and of changes of each kind, up to 200. 0 means the
                default, 50.
            page_token: Where to continue: `next_page_token` of the previous page, for the same request.
        """
        request = graph_history_pb2.GetSnapshotRequest(
            as_of=time_selector(as_of),
            entity=entity_selector(entity),
            relation_type=relation_type,
            known_time=timestamp(known_time),
            page_size=page_size,
            page_token=page_token,
        )
        answer: graph_history_pb2.GetSnapshotResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "GetSnapshot", request, timeout
        )
        return answer

    async def diff_graph(
        self,
        before: TimeLike,
        *,
        after: TimeLike | None = None,
        entity: EntityLike | None = None,
        relation_type: str = "",
        known_time: datetime | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> graph_history_pb2.GraphDiff:
        """Returns the difference between two times.

        Args:
            before: The first time: an instant, or a range for facts that held at any moment of it.
            after: The second time. Default: now.
            entity: Only facts with this entity at either end (every entity with the name, if several
                share it). Default: the whole space.
            relation_type: Only facts of this relation: its whole name, letter case and accents ignored.
                Empty: all.
            known_time: Both times as they were known at this instant. Default: as they are known now.
            limit: Maximum number of changes of each kind, 1–200. Default 50.
        """
        request = graph_history_pb2.DiffGraphRequest(
            before=time_selector(before),
            after=time_selector(after),
            entity=entity_selector(entity),
            relation_type=relation_type,
            known_time=timestamp(known_time),
            limit=limit,
        )
        answer: graph_history_pb2.DiffGraphResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "DiffGraph", request, timeout
        )
        return answer.diff

    async def find_paths(
        self,
        source: EntityLike,
        target: EntityLike,
        *,
        max_hops: int | None = None,
        limit: int | None = None,
        as_of: TimeLike | None = None,
        include_local: bool = False,
        timeout: float | None = None,
    ) -> graph_structure_pb2.FindPathsResponse:
        """Finds the shortest paths between two entities. NOT_FOUND if the entity does not exist.

        Args:
            source: Where paths begin.
            target: Where they end.
            max_hops: Maximum length in facts, 1–6. Default 4.
            limit: Maximum number of paths, 1–20. Default 5.
            as_of: The time at which all facts of a path hold. Default: now.
            include_local: Also follow co-occurrences found by the local extractor. A co-occurrence
                holds while a version of its document contains it, or at any time if the document has no
                versions. Default: only stated facts.
        """
        request = graph_structure_pb2.FindPathsRequest(
            source=entity_selector(source),
            target=entity_selector(target),
            max_hops=max_hops,
            limit=limit,
            as_of=time_selector(as_of),
            include_local=include_local,
        )
        answer: graph_structure_pb2.FindPathsResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "FindPaths", request, timeout
        )
        return answer

    async def expand(
        self,
        seeds: Iterable[graph_expansion_pb2.ExpansionSeed],
        *,
        max_hops: int | None = None,
        relation_types: Iterable[graph_relations_pb2.ChunkRelationType.ValueType | str] = (),
        expansion_factor: float | None = None,
        adaptive_factor: bool = False,
        min_strength: float | None = None,
        max_degree: int | None = None,
        as_of: datetime | None = None,
        direction: graph_relations_pb2.RelationDirection.ValueType | str | None = None,
        limit: int | None = None,
        keep_ranking: bool = False,
        cache: common_retrieval_pb2.CacheMode.ValueType | str | None = None,
        timeout: float | None = None,
    ) -> graph_expansion_pb2.ExpandResponse:
        """Expands a ranked list of chunks along the relations between them.

        Args:
            seeds: The list, 1–1,000 distinct chunks. Chunks that are not in the graph keep their score
                and add nothing.
            max_hops: Maximum distance from a seed in relations, 1–3. Default 1.
            relation_types: Only along relations of these types. Default: all.
            expansion_factor: The share of a seed's score that it passes on, before weight and depth,
                0–1. Default 0.6.
            adaptive_factor: Weak seeds expand more: the share is `expansion_factor` × (1.5 − seed
                score), at most 1.
            min_strength: Only along relations of at least this strength, 0–1. Default 0.
            max_degree: Maximum number of relations of a chunk that are followed, largest weight ×
                strength first, 1–1,000. Default 100.
            as_of: Only along relations that hold at this instant. Default: now.
            direction: The direction in which relations are followed. Default: both.
            limit: Maximum number of items, 1–1,000. Default 50.
            keep_ranking: Keep the list's order and scores, and return related chunks in `context`.
            cache: Whether a cached answer to the same request may be returned. Default: yes, while the
                space has not changed.
        """
        request = graph_expansion_pb2.ExpandRequest(
            seeds=list(seeds),
            max_hops=max_hops,
            relation_types=[
                enum_value(graph_relations_pb2.ChunkRelationType)(one) for one in relation_types
            ],
            expansion_factor=expansion_factor,
            adaptive_factor=adaptive_factor,
            min_strength=min_strength,
            max_degree=max_degree,
            as_of=timestamp(as_of),
            direction=enum_value(graph_relations_pb2.RelationDirection)(direction),
            limit=limit,
            keep_ranking=keep_ranking,
            cache=enum_value(common_retrieval_pb2.CacheMode)(cache),
        )
        answer: graph_expansion_pb2.ExpandResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "Expand", request, timeout
        )
        return answer

    async def list_relations(
        self,
        chunk_id: str = "",
        *,
        direction: graph_relations_pb2.RelationDirection.ValueType | str | None = None,
        relation_types: Iterable[graph_relations_pb2.ChunkRelationType.ValueType | str] = (),
        origin: graph_relations_pb2.RelationOrigin.ValueType | str | None = None,
        page_size: int = 0,
        timeout: float | None = None,
    ) -> AsyncIterator[graph_relations_pb2.ChunkRelation]:
        """Lists relations between chunks, in pages.

        Args:
            chunk_id: The chunk whose relations are listed. Default: every relation of the space.
            direction: The role of the chunk in them. Default: both. Ignored without a chunk.
            relation_types: Only relations of these types. Default: all.
            origin: Only relations of this origin. Default: any.
            page_size: Maximum number of entries, up to 1,000; larger values count as 1,000. 0 means the
                default, 100.
        """
        request = graph_relations_pb2.ListRelationsRequest(
            chunk_id=chunk_id,
            direction=enum_value(graph_relations_pb2.RelationDirection)(direction),
            relation_types=[
                enum_value(graph_relations_pb2.ChunkRelationType)(one) for one in relation_types
            ],
            origin=enum_value(graph_relations_pb2.RelationOrigin)(origin),
            page_size=page_size,
        )
        async for page in self._pages(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "ListRelations", request, timeout
        ):
            for one in page.relations:
                yield one

    async def get_relation_stats(
        self, *, timeout: float | None = None
    ) -> graph_relations_pb2.GetRelationStatsResponse:
        """Returns counts of the relations between chunks."""
        request = graph_relations_pb2.GetRelationStatsRequest()
        answer: graph_relations_pb2.GetRelationStatsResponse = await self._call(
            "graph",
            graph_query_pb2_grpc.GraphQueryServiceStub,
            "GetRelationStats",
            request,
            timeout,
        )
        return answer

    async def search_findings(
        self,
        query: str = "",
        *,
        filter: graph_findings_pb2.FindingFilter | None = None,
        page_size: int = 0,
        page_token: str = "",
        query_embedding: common_retrieval_pb2.QueryEmbedding | None = None,
        text_only: bool = False,
        timeout: float | None = None,
    ) -> graph_findings_pb2.SearchFindingsResponse:
        """Finds findings by any of their fields, by words and by similarity.

        Args:
            query: What to look for, by words and by similarity; up to 4,096 characters. Any text is
                safe: there is no query syntax. Empty or all white space: every finding that matches the
                filter, newest first, in pages.
            filter: Conditions on the findings. Unset: none.
            page_size: Maximum number of entries, up to 200; larger values count as 200. 0 means the
                default, 20.
            page_token: Where to continue: `next_page_token` of the previous page, for the same filter.
                Only without a query.
            query_embedding: The query's vector; without it, or with a vector of another model, the tier
                embeds the query itself, if the space has vectors.
            text_only: Search only by words; set by a caller that knows that the embedder is
                unavailable, so that the service does not try it again.
        """
        request = graph_findings_pb2.SearchFindingsRequest(
            query=query,
            filter=filter,
            page_size=page_size,
            page_token=page_token,
            query_embedding=query_embedding,
            text_only=text_only,
        )
        answer: graph_findings_pb2.SearchFindingsResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "SearchFindings", request, timeout
        )
        return answer

    async def get_ontology(
        self, *, timeout: float | None = None
    ) -> graph_ontology_pb2.GetOntologyResponse:
        """Returns the space's entity types and relation types."""
        request = graph_ontology_pb2.GetOntologyRequest()
        answer: graph_ontology_pb2.GetOntologyResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "GetOntology", request, timeout
        )
        return answer

    async def get_graph_status(
        self, *, timeout: float | None = None
    ) -> graph_query_pb2.GetGraphStatsResponse:
        """Returns counts of the space's graph."""
        request = graph_query_pb2.GetGraphStatsRequest()
        answer: graph_query_pb2.GetGraphStatsResponse = await self._call(
            "graph", graph_query_pb2_grpc.GraphQueryServiceStub, "GetGraphStats", request, timeout
        )
        return answer

    async def end_fact(
        self, fact_id: str, invalid_time: datetime, *, timeout: float | None = None
    ) -> graph_ingest_pb2.EndFactResponse:
        """Ends a fact at a time: from then on it no longer holds; its former versions remain. Repeating the
        call with the same time changes nothing; with another time it is a correction. NOT_FOUND for facts
        of other spaces and for co-occurrences.

        Args:
            fact_id: The fact's id.
            invalid_time: First instant at which it no longer holds. INVALID_FIELD when this is not
                after the start of its validity.
        """
        request = graph_ingest_pb2.EndFactRequest(
            fact_id=fact_id, invalid_time=timestamp(invalid_time)
        )
        answer: graph_ingest_pb2.EndFactResponse = await self._call(
            "graph", graph_ingest_pb2_grpc.GraphIngestServiceStub, "EndFact", request, timeout
        )
        return answer

    async def withdraw_facts(
        self,
        fact_ids: Iterable[str],
        *,
        reason: str = "",
        chunk_id: str = "",
        timeout: float | None = None,
    ) -> graph_corrections_pb2.WithdrawFactsResponse:
        """Withdraws facts: from now on they are not known, whatever documents and texts state them, until they
        are stated again. Nothing is erased: as known before, they still stand. One transaction; unknown
        facts do not affect the others.

        Args:
            fact_ids: The facts' ids, 1–1,000; repeated ones count once.
            reason: Why, up to 1,000 characters; kept with the facts' versions.
            chunk_id: The chunk that gave cause to it; empty if none did. Kept as given.
        """
        request = graph_corrections_pb2.WithdrawFactsRequest(
            fact_ids=list(fact_ids), reason=reason, chunk_id=chunk_id
        )
        answer: graph_corrections_pb2.WithdrawFactsResponse = await self._call(
            "graph", graph_ingest_pb2_grpc.GraphIngestServiceStub, "WithdrawFacts", request, timeout
        )
        return answer

    async def correct_fact(
        self,
        fact_id: str,
        correction: graph_corrections_pb2.FactCorrection,
        update_mask: FieldMask,
        *,
        reason: str = "",
        chunk_id: str = "",
        timeout: float | None = None,
    ) -> graph_corrections_pb2.CorrectFactResponse:
        """Corrects a fact: from now on it is known as corrected; as known before, it is what it was. It keeps
        its sources, and its id unless subject, relation or object change or the corrected fact exists
        already: then the fact with the other id replaces it, and a correction of the former id corrects
        that one. NOT_FOUND for facts of other spaces, withdrawn facts and co-occurrences; INVALID_FIELD,
        and nothing changes, for a correction after which it would not be a fact. FAILED_PRECONDITION while
        the space migrates to vectors of another model.

        Args:
            fact_id: The fact's id.
            correction: The corrected values.
            update_mask: Which values are corrected, at least one: `subject`, `relation_type`, `object`,
                `statement`, `valid_time`, `invalid_time`, `attributes`. A value that is named here and
                not set is emptied; subject, relation and object cannot be.
            reason: Why, up to 1,000 characters; kept with the fact's versions.
            chunk_id: The chunk that gave cause to it; empty if none did. Kept as given.
        """
        request = graph_corrections_pb2.CorrectFactRequest(
            fact_id=fact_id,
            correction=correction,
            update_mask=update_mask,
            reason=reason,
            chunk_id=chunk_id,
        )
        answer: graph_corrections_pb2.CorrectFactResponse = await self._call(
            "graph", graph_ingest_pb2_grpc.GraphIngestServiceStub, "CorrectFact", request, timeout
        )
        return answer

    async def put_ontology(
        self,
        *,
        entity_types: Iterable[graph_ontology_pb2.EntityType] = (),
        relation_types: Iterable[graph_ontology_pb2.RelationType] = (),
        strict: bool = False,
        instructions: str = "",
        expected_version: int | None = None,
        timeout: float | None = None,
    ) -> graph_ontology_pb2.PutOntologyResponse:
        """Replaces the space's ontology. All names are validated; each reserved name is reported with its
        field.

        Args:
            entity_types: Entity types, at most 100, with distinct names.
            relation_types: Relation types, at most 200, with names that differ in more than letter case
                and accents.
            strict: Allow only declared relations between the types that they declare: extraction leaves
                out all others, and AddFacts refuses facts with them individually. Default: false.
            instructions: Further instructions for the language model that reads texts of this space, at
                most 4,000 characters. Needed for types of abstract things, because by default the model
                is instructed to ignore these.
            expected_version: The version that this one replaces: WRONG_STATE if another version is
                stored. Unset: any version.
        """
        request = graph_ontology_pb2.PutOntologyRequest(
            ontology=graph_ontology_pb2.Ontology(
                entity_types=list(entity_types),
                relation_types=list(relation_types),
                strict=strict,
                instructions=instructions,
            ),
            expected_version=expected_version,
        )
        answer: graph_ontology_pb2.PutOntologyResponse = await self._call(
            "graph", graph_ingest_pb2_grpc.GraphIngestServiceStub, "PutOntology", request, timeout
        )
        return answer

    async def add_findings(
        self,
        findings: Iterable[graph_findings_pb2.FindingInput],
        *,
        embedding_model: str = "",
        timeout: float | None = None,
    ) -> graph_findings_pb2.AddFindingsResponse:
        """Adds findings, intents and outcomes: statements about the text, linked to entities, episodes and
        each other. One transaction; refused findings do not affect the others. FAILED_PRECONDITION while
        the space holds or migrates to vectors of another model.

        Args:
            findings: The findings, 1–500.
            embedding_model: The model of the vectors. Required if any vector is given; it must be the
                space's model.
        """
        request = graph_findings_pb2.AddFindingsRequest(
            findings=list(findings), embedding_model=embedding_model
        )
        answer: graph_findings_pb2.AddFindingsResponse = await self._call(
            "graph", graph_ingest_pb2_grpc.GraphIngestServiceStub, "AddFindings", request, timeout
        )
        return answer

    async def put_relations(
        self,
        relations: Iterable[graph_relations_pb2.ChunkRelationInput],
        *,
        timeout: float | None = None,
    ) -> graph_relations_pb2.PutRelationsResponse:
        """Stores relations between chunks in one transaction: all of them or none. An existing relation is
        overwritten. INVALID_FIELD when an end is not a chunk of the space. A relation is deleted with
        either of its chunks.

        Args:
            relations: The relations, 1–1,000. Both ends must be chunks of the space that exist in the
                graph.
        """
        request = graph_relations_pb2.PutRelationsRequest(relations=list(relations))
        answer: graph_relations_pb2.PutRelationsResponse = await self._call(
            "graph", graph_ingest_pb2_grpc.GraphIngestServiceStub, "PutRelations", request, timeout
        )
        return answer

    async def delete_relations(
        self, relations: Iterable[graph_relations_pb2.RelationRef], *, timeout: float | None = None
    ) -> graph_relations_pb2.DeleteRelationsResponse:
        """Removes relations between chunks.

        Args:
            relations: The relations, 1–1,000; unknown ids are skipped.
        """
        request = graph_relations_pb2.DeleteRelationsRequest(relations=list(relations))
        answer: graph_relations_pb2.DeleteRelationsResponse = await self._call(
            "graph",
            graph_ingest_pb2_grpc.GraphIngestServiceStub,
            "DeleteRelations",
            request,
            timeout,
        )
        return answer

    async def vector_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        query_embedding: common_retrieval_pb2.QueryEmbedding | None = None,
        filter: vector_chunks_pb2.ChunkFilter | None = None,
        as_of: datetime | None = None,
        min_score: float | None = None,
        cache: common_retrieval_pb2.CacheMode.ValueType | str | None = None,
        timeout: float | None = None,
    ) -> vector_search_pb2.VectorSearchResponse:
        """Finds the chunks nearest to the query in meaning (cosine). FAILED_PRECONDITION when the space is
        embedded with a model that this service does not have.

        Args:
            query: The question or phrase, 1–4,096 characters that are not all white space.
            limit: Maximum number of hits, 1–50. Default 10.
            query_embedding: The query's vector; without it, or with a vector of another model, the tier
                embeds the query itself.
            filter: Which chunks may be found.
            as_of: Search the document versions that are valid at this instant. Default: the current
                versions.
            min_score: Leave out hits with a lower cosine similarity, −1 to 1.
            cache: Whether a cached answer may be returned. Default: yes, while nothing in the space has
                changed.
        """
        request = vector_search_pb2.VectorSearchRequest(
            query=query,
            limit=limit,
            query_embedding=query_embedding,
            filter=filter,
            as_of=timestamp(as_of),
            min_score=min_score,
            cache=enum_value(common_retrieval_pb2.CacheMode)(cache),
        )
        answer: vector_search_pb2.VectorSearchResponse = await self._call(
            "vector",
            vector_search_pb2_grpc.VectorSearchServiceStub,
            "VectorSearch",
            request,
            timeout,
        )
        return answer

    async def text_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        filter: vector_chunks_pb2.ChunkFilter | None = None,
        as_of: datetime | None = None,
        min_score: float | None = None,
        cache: common_retrieval_pb2.CacheMode.ValueType | str | None = None,
        match: vector_chunks_pb2.TextMatch.ValueType | str | None = None,
        timeout: float | None = None,
    ) -> vector_search_pb2.TextSearchResponse:
        """Finds chunks that contain the query's words (BM25): any of them, all as a phrase, or with the last
        word as a prefix. Needs no embedding.

        Args:
            query: The words, 1–4,096 characters that are not all white space. Any text is safe: there
                is no query syntax.
            limit: Maximum number of hits, 1–50. Default 10.
            filter: Which chunks may be found.
            as_of: Search the document versions that are valid at this instant. Default: the current
                versions.
            min_score: Leave out hits with a lower score, 0–1.
            cache: Whether a cached answer may be returned. Default: yes, while nothing in the space has
                changed.
            match: How the words are matched. Default: any of them.
        """
        request = vector_search_pb2.TextSearchRequest(
            query=query,
            limit=limit,
            filter=filter,
            as_of=timestamp(as_of),
            min_score=min_score,
            cache=enum_value(common_retrieval_pb2.CacheMode)(cache),
            match=enum_value(vector_chunks_pb2.TextMatch)(match),
        )
        answer: vector_search_pb2.TextSearchResponse = await self._call(
            "vector", vector_search_pb2_grpc.VectorSearchServiceStub, "TextSearch", request, timeout
        )
        return answer

    async def hybrid_search(
        self,
        query: str,
        *,
        limit: int | None = None,
        text_weight: float | None = None,
        fusion: vector_chunks_pb2.Fusion.ValueType | str | None = None,
        query_embedding: common_retrieval_pb2.QueryEmbedding | None = None,
        filter: vector_chunks_pb2.ChunkFilter | None = None,
        as_of: datetime | None = None,
        min_score: float | None = None,
        text_only: bool = False,
        cache: common_retrieval_pb2.CacheMode.ValueType | str | None = None,
        timeout: float | None = None,
    ) -> vector_search_pb2.HybridSearchResponse:
        """Runs both searches in one round trip to the store and fuses them. If the embedder is unavailable, it
        searches only text and reports that. Candidates are the best 100 of each list for every limit, so
        the hits for a smaller limit are a prefix of those for a larger limit. If more chunks have equal
        scores in a list, the list contains those with the lowest ids.

        Args:
            query: The question, 1–4,096 characters that are not all white space.
            limit: Maximum number of hits, 1–50. Default 10.
            text_weight: Weight of the text score in the fused score, 0–1. Default 0.15. Below 0.5, with
                weighted scores, chunks that contain only words that are common in the space may be
                found only by meaning.
            fusion: How the two lists are fused. Default: weighted scores.
            query_embedding: The query's vector; without it, or with a vector of another model, the tier
                embeds the query itself.
            filter: Which chunks may be found.
            as_of: Search the document versions that are valid at this instant. Default: the current
                versions.
            min_score: Leave out hits with a lower score, 0–1. Default, for weighted scores: irrelevant
                hits are left out. A best hit that reaches `relevance_floor` is a match by itself.
                Otherwise the local reranking model reads the first four hits; a hit matches if its
                score and that judgment together suffice. After a match, the others need `list_floor`.
                The thresholds are the model's and grow with the space; for models without known ones
                they are measured in spaces of 200 chunks or more, with questions on unrelated subjects,
                and in smaller spaces nothing is left out.
            text_only: Search only by words; set by a caller that knows that the embedder is
                unavailable, so that the service does not try it again.
            cache: Whether a cached answer may be returned. Default: yes, while nothing in the space has
                changed.
        """
        request = vector_search_pb2.HybridSearchRequest(
            query=query,
            limit=limit,
            text_weight=text_weight,
            fusion=enum_value(vector_chunks_pb2.Fusion)(fusion),
            query_embedding=query_embedding,
            filter=filter,
            as_of=timestamp(as_of),
            min_score=min_score,
            text_only=text_only,
            cache=enum_value(common_retrieval_pb2.CacheMode)(cache),
        )
        answer: vector_search_pb2.HybridSearchResponse = await self._call(
            "vector",
            vector_search_pb2_grpc.VectorSearchServiceStub,
            "HybridSearch",
            request,
            timeout,
        )
        return answer

    async def get_chunks(
        self, chunk_ids: Iterable[str], *, timeout: float | None = None
    ) -> vector_search_pb2.GetChunksResponse:
        """Returns chunks by id, in the requested order; unknown ids are left out.

        Args:
            chunk_ids: The ids, 1–1,000.
        """
        request = vector_search_pb2.GetChunksRequest(chunk_ids=list(chunk_ids))
        answer: vector_search_pb2.GetChunksResponse = await self._call(
            "vector", vector_search_pb2_grpc.VectorSearchServiceStub, "GetChunks", request, timeout
        )
        return answer

    async def upsert_document(
        self,
        document: vector_documents_pb2.DocumentInput,
        *,
        embedding_model: str = "",
        timeout: float | None = None,
    ) -> vector_documents_pb2.UpsertDocumentResponse:
        """Writes a document's version with its chunks and vectors in one transaction. Writing the same content
        again changes nothing. FAILED_PRECONDITION when the space is embedded with a model that this service
        does not have.

        Args:
            document: The document.
            embedding_model: The model of the chunks' vectors. Required if any vector is given; it must
                be the space's model.
        """
        request = vector_documents_pb2.UpsertDocumentRequest(
            document=document, embedding_model=embedding_model
        )
        answer: vector_documents_pb2.UpsertDocumentResponse = await self._call(
            "vector",
            vector_documents_pb2_grpc.DocumentServiceStub,
            "UpsertDocument",
            request,
            timeout,
        )
        return answer

    async def batch_upsert_documents(
        self,
        documents: Iterable[vector_documents_pb2.DocumentInput],
        *,
        embedding_model: str = "",
        timeout: float | None = None,
    ) -> vector_documents_pb2.BatchUpsertDocumentsResponse:
        """The same for many documents in one transaction: all of them or none. FAILED_PRECONDITION when the
        space is embedded with a model that this service does not have.

        Args:
            documents: The documents, 1–500, ids distinct.
            embedding_model: The model of the chunks' vectors. Required if any vector is given; it must
                be the space's model.
        """
        request = vector_documents_pb2.BatchUpsertDocumentsRequest(
            documents=list(documents), embedding_model=embedding_model
        )
        answer: vector_documents_pb2.BatchUpsertDocumentsResponse = await self._call(
            "vector",
            vector_documents_pb2_grpc.DocumentServiceStub,
            "BatchUpsertDocuments",
            request,
            timeout,
        )
        return answer

    async def get_document(
        self, document_id: str, *, timeout: float | None = None
    ) -> vector_documents_pb2.GetDocumentResponse:
        """Returns a document, its current version and its chunks' ids. NOT_FOUND if the document does not
        exist or has ended.

        Args:
            document_id: The document's id.
        """
        request = vector_documents_pb2.GetDocumentRequest(document_id=document_id)
        answer: vector_documents_pb2.GetDocumentResponse = await self._call(
            "vector", vector_documents_pb2_grpc.DocumentServiceStub, "GetDocument", request, timeout
        )
        return answer

    async def list_document_versions(
        self, document_id: str, *, page_size: int = 0, timeout: float | None = None
    ) -> AsyncIterator[vector_documents_pb2.DocumentVersion]:
        """Lists a document's versions, latest first, in pages. NOT_FOUND if the document does not exist.

        Args:
            document_id: The document's id.
            page_size: Maximum number of entries. 0 means 50; values above 200 count as 200.
        """
        request = vector_documents_pb2.ListDocumentVersionsRequest(
            document_id=document_id, page_size=page_size
        )
        async for page in self._pages(
            "vector",
            vector_documents_pb2_grpc.DocumentServiceStub,
            "ListDocumentVersions",
            request,
            timeout,
        ):
            for one in page.versions:
                yield one

    async def list_documents(
        self, *, page_size: int = 0, prefix: str = "", timeout: float | None = None
    ) -> AsyncIterator[vector_documents_pb2.Document]:
        """Lists the space's documents by id, in pages; those that have ended are left out.

        Args:
            page_size: Maximum number of entries, up to 200; larger values count as 200. 0 means the
                default, 50. A page of large documents may have fewer.
            prefix: Lists only documents whose ids begin with this, such as `handbook/`. Default: all.
        """
        request = vector_documents_pb2.ListDocumentsRequest(page_size=page_size, prefix=prefix)
        async for page in self._pages(
            "vector",
            vector_documents_pb2_grpc.DocumentServiceStub,
            "ListDocuments",
            request,
            timeout,
        ):
            for one in page.documents:
                yield one

    async def get_text_language(
        self, *, timeout: float | None = None
    ) -> vector_documents_pb2.GetTextLanguageResponse:
        """Returns the language whose rules apply to the space's words."""
        request = vector_documents_pb2.GetTextLanguageRequest()
        answer: vector_documents_pb2.GetTextLanguageResponse = await self._call(
            "vector",
            vector_documents_pb2_grpc.DocumentServiceStub,
            "GetTextLanguage",
            request,
            timeout,
        )
        return answer

    async def set_text_language(self, language: str = "", *, timeout: float | None = None) -> None:
        """Sets the language for chunks and queries. WRONG_STATE while the space has chunks, because they are
        indexed with the former language: set it before the first document, or after all documents are
        deleted.

        Args:
            language: Its name, one of GetTextLanguage's `available_languages`, in the same spelling;
                otherwise INVALID_FIELD, which lists them.
        """
        request = vector_documents_pb2.SetTextLanguageRequest(language=language)
        await self._call(
            "vector",
            vector_documents_pb2_grpc.DocumentServiceStub,
            "SetTextLanguage",
            request,
            timeout,
        )

    async def get_vector_stats(
        self, *, timeout: float | None = None
    ) -> vector_documents_pb2.GetVectorStatsResponse:
        """Returns counts of the space, and the model that it is embedded with."""
        request = vector_documents_pb2.GetVectorStatsRequest()
        answer: vector_documents_pb2.GetVectorStatsResponse = await self._call(
            "vector",
            vector_documents_pb2_grpc.DocumentServiceStub,
            "GetVectorStats",
            request,
            timeout,
        )
        return answer
