"""GraphIngestService over the store, and the stream of given facts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any, Self

import grpc

from braid.graph.v1 import (
    corrections_pb2,
    findings_pb2,
    ingest_pb2,
    ingest_pb2_grpc,
    ontology_pb2,
    relations_pb2,
)
from services.graph_query.core.domain import EpisodeCounts, GivenFact
from services.graph_query.core.entity_resolution import NameKeys
from services.graph_query.core.fact_batch import FactBatch
from services.graph_query.core.intervals import is_reversed
from services.graph_query.core.names import RESERVED_TYPES
from services.graph_query.core.store import MAX_DIMENSION, GraphStore
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.episodes.intake import EpisodeIntake
from services.graph_query.ontology.domain import Ontology
from services.graph_query.servicers import fact_mapping as mapping
from services.graph_query.servicers.corrections import CorrectionHandler
from services.graph_query.servicers.findings import FindingHandler
from services.graph_query.servicers.ontology import OntologyHandler
from services.graph_query.servicers.relations import RelationCalls
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.times import to_datetime

_LISTED = 1_000


# Facts prepared without yielding: some 0.1 ms of event loop time. A round trip of the write needs a dozen iterations of
# the event loop, and each waits for one slice; while Neo4j works there is time for all.
_SLICE = 2


_NONE = Ontology()


class FactIntake:
    """Adds the facts of one stream message by message, each in a transaction of its own.

    While one message is written the next is read and checked; leaving the block waits for the last write.
    """

    def __init__(
        self, store: GraphStore, space: str, models: SpaceModels, ontology: Ontology = _NONE
    ) -> None:
        self._store = store
        self._ontology = ontology
        self._space = space
        self._models = models
        # The length of a model's vectors, by its name.
        self._lengths: dict[str, int] = {}
        self._position = 0
        self._answer = ingest_pb2.AddFactsResponse()
        self._writing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        writing, self._writing = self._writing, None
        if writing is None:
            return
        if kind is not None and not issubclass(kind, Exception):
            writing.cancel()
        # Messages sent before the one that ends the stream stay written.
        await asyncio.wait([writing])
        if kind is None:
            writing.result()
        elif not writing.cancelled():
            writing.exception()  # The caller receives the first failure; asyncio would log this one as never retrieved.

    async def take(self, request: ingest_pb2.AddFactsRequest) -> None:
        """Adds one message's facts.

        Raises InvalidFieldError for vectors without their model, and what writing the previous message raised.
        """
        await self._find_length(request)
        batch = await self._prepared(request)
        if not len(batch):
            return
        await self._written()
        self._writing = asyncio.create_task(self._write(batch, request.embedding_model))
        await asyncio.sleep(0)  # Starts the write before the next message is read.

    async def _write(self, facts: FactBatch, model: str) -> None:
        counts = await self._store.add_facts(self._space, facts, model)
        self._answer.added_count += counts.added
        self._answer.unchanged_count += counts.unchanged
        self._answer.space_revision = counts.revision
        self._answer.source_revision = self._answer.source_revision or counts.source_revision

    async def _written(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            await writing

    def response(self) -> ingest_pb2.AddFactsResponse:
        """Returns the result so far."""
        return self._answer

    async def _find_length(self, request: ingest_pb2.AddFactsRequest) -> None:
        """Stores the length of the model's vectors in the space, if known."""
        model = request.embedding_model
        if model in self._lengths or not any(fact.embedding for fact in request.facts):
            return
        if not model:
            raise InvalidFieldError(FieldError("embedding_model", "is needed for vectors"))
        if length := await self._models.length(self._space, model):
            self._lengths[model] = length

    async def _prepared(self, request: ingest_pb2.AddFactsRequest) -> FactBatch:
        """Returns the accepted facts; meanwhile the previous message is written."""
        batch = FactBatch(NameKeys(self._space), source=request.source)
        model = request.embedding_model
        for place, message in enumerate(request.facts):
            if place % _SLICE == 0:
                # A thread would delay the write more, as it would compete for the interpreter lock.
                await asyncio.sleep(0)
            index, self._position = self._position, self._position + 1
            try:
                fact = mapping.fact_input(message)
                self._check(fact)
                self._check_length(fact, model)
            except ValueError as refusal:
                self._refuse(index, str(refusal))
            else:
                batch.add(fact)
        return batch

    def _check(self, fact: GivenFact) -> None:
        if is_reversed(fact.valid_at, fact.invalid_at):
            raise ValueError("must end after the time since when it holds")
        if len(fact.embedding) > MAX_DIMENSION:
            raise ValueError(f"embedding must have at most {MAX_DIMENSION} values")
        if fact.embedding and not any(fact.embedding):
            raise ValueError("embedding must not be all zeros")
        if reserved := RESERVED_TYPES & {fact.subject.type, fact.object.type}:
            raise ValueError(f"{min(reserved)} is a label of the graph's own: choose another type")
        misfit = self._ontology.misfit(fact.relation, fact.subject.type, fact.object.type)
        if misfit is not None:
            raise ValueError(misfit)

    def _check_length(self, fact: GivenFact, model: str) -> None:
        """Checks a vector's length; the first accepted fact sets it in a space without vectors of the model."""
        if not fact.embedding:
            return
        length = self._lengths.setdefault(model, len(fact.embedding))
        if len(fact.embedding) != length:
            raise ValueError(f"embedding must have {length} values")

    def _refuse(self, index: int, reason: str) -> None:
        self._answer.refused_count += 1
        if len(self._answer.refused) < _LISTED:
            self._answer.refused.add(index=index, reason=reason)


Context = grpc.aio.ServicerContext[Any, Any]


class GraphIngestServicer(ingest_pb2_grpc.GraphIngestServiceServicer):
    """Writes to the caller's space."""

    def __init__(
        self,
        store: GraphStore,
        models: SpaceModels,
        *,
        episodes: EpisodeIntake,
        ontologies: OntologyHandler,
        findings: FindingHandler,
        relations: RelationCalls,
        corrections: CorrectionHandler,
    ) -> None:
        self._corrections = corrections
        self._store = store
        self._models = models
        self._episodes = episodes
        self._ontologies = ontologies
        self._findings = findings
        self._relations = relations

    async def AddEpisode(
        self,
        request: ingest_pb2.AddEpisodeRequest,
        _context: Context,
    ) -> ingest_pb2.AddEpisodeResponse:
        """Adds one chunk."""
        counts = await self._add([request.episode])
        return ingest_pb2.AddEpisodeResponse(counts=_counts(counts))

    async def BatchAddEpisodes(
        self,
        request: ingest_pb2.BatchAddEpisodesRequest,
        _context: Context,
    ) -> ingest_pb2.BatchAddEpisodesResponse:
        """Adds chunks: in one transaction, or one for each where a language model reads them."""
        counts = await self._add(request.episodes, extract=not request.skip_language_model)
        return ingest_pb2.BatchAddEpisodesResponse(
            counts=_counts(counts), space_revision=counts.revision
        )

    async def AddFacts(
        self,
        request_iterator: AsyncIterator[ingest_pb2.AddFactsRequest],
        _context: Context,
    ) -> ingest_pb2.AddFactsResponse:
        """Adds facts, a transaction for each message."""
        ontology = await self._ontologies.current()
        space = current_call().space
        async with FactIntake(self._store, space, self._models, ontology) as intake:
            async for request in request_iterator:
                await intake.take(request)
        return intake.response()

    async def EndFact(
        self,
        request: ingest_pb2.EndFactRequest,
        _context: Context,
    ) -> ingest_pb2.EndFactResponse:
        """Ends a fact."""
        at = to_datetime(request.invalid_time)
        ended = await self._store.end_fact(current_call().space, request.fact_id.lower(), at)
        return ingest_pb2.EndFactResponse(
            fact=mapping.fact(ended.fact), changed=ended.changed, space_revision=ended.revision
        )

    async def WithdrawFacts(
        self,
        request: corrections_pb2.WithdrawFactsRequest,
        _context: Context,
    ) -> corrections_pb2.WithdrawFactsResponse:
        """Withdraws facts."""
        return await self._corrections.withdraw(request)

    async def CorrectFact(
        self,
        request: corrections_pb2.CorrectFactRequest,
        _context: Context,
    ) -> corrections_pb2.CorrectFactResponse:
        """Corrects a fact."""
        return await self._corrections.correct(request)

    async def SettleFactSource(
        self,
        request: corrections_pb2.SettleFactSourceRequest,
        _context: Context,
    ) -> corrections_pb2.SettleFactSourceResponse:
        """Compares what a source states with what it stated before."""
        return await self._corrections.settle(request)

    async def PutOntology(
        self,
        request: ontology_pb2.PutOntologyRequest,
        _context: Context,
    ) -> ontology_pb2.PutOntologyResponse:
        """Replaces the space's ontology."""
        return await self._ontologies.put(request)

    async def PutRelations(
        self,
        request: relations_pb2.PutRelationsRequest,
        _context: Context,
    ) -> relations_pb2.PutRelationsResponse:
        """Stores relations between chunks."""
        return await self._relations.put(request)

    async def DeleteRelations(
        self,
        request: relations_pb2.DeleteRelationsRequest,
        _context: Context,
    ) -> relations_pb2.DeleteRelationsResponse:
        """Removes relations between chunks."""
        return await self._relations.delete(request)

    async def AddFindings(
        self,
        request: findings_pb2.AddFindingsRequest,
        _context: Context,
    ) -> findings_pb2.AddFindingsResponse:
        """Adds findings."""
        return await self._findings.add(request)

    async def _add(
        self, episodes: Sequence[ingest_pb2.EpisodeInput], *, extract: bool = True
    ) -> EpisodeCounts:
        passages = [mapping.passage(episode) for episode in episodes]
        if len({passage.uuid for passage in passages}) != len(passages):
            raise InvalidFieldError(FieldError("episodes", "their chunk_ids must be distinct"))
        return await self._episodes.add(current_call().space, passages, extract=extract)


def _counts(counts: EpisodeCounts) -> ingest_pb2.EpisodeCounts:
    return ingest_pb2.EpisodeCounts(
        added_episode_count=counts.episodes,
        added_entity_count=counts.entities,
        added_mention_count=counts.mentions,
        added_local_fact_count=counts.local_facts,
        added_fact_count=counts.facts,
        ended_fact_count=counts.ended,
    )
