"""GraphIngestService over the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc

from braid.graph.v1 import (
    findings_pb2,
    ingest_pb2,
    ingest_pb2_grpc,
    ontology_pb2,
    relations_pb2,
)
from services.graph_query import mapping
from services.graph_query.domain import EpisodeCounts
from services.graph_query.episode_intake import EpisodeIntake
from services.graph_query.expansion.servicer import RelationCalls
from services.graph_query.fact_intake import FactIntake
from services.graph_query.findings.calls import FindingCalls
from services.graph_query.ontology.calls import OntologyCalls
from services.graph_query.space_models import SpaceModels
from services.graph_query.store import GraphStore
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.times import to_datetime

Context = grpc.aio.ServicerContext[Any, Any]


class GraphIngestServicer(ingest_pb2_grpc.GraphIngestServiceServicer):
    """Writes to the caller's space."""

    def __init__(
        self,
        store: GraphStore,
        models: SpaceModels,
        *,
        episodes: EpisodeIntake,
        ontologies: OntologyCalls,
        findings: FindingCalls,
        relations: RelationCalls,
    ) -> None:
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
        counts = await self._add(request.episodes)
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
        ended = await self._store.end_fact(current_call().space, request.fact_uuid.lower(), at)
        return ingest_pb2.EndFactResponse(
            fact=mapping.fact(ended.fact), changed=ended.changed, space_revision=ended.revision
        )

    async def GetOntology(
        self,
        _request: ontology_pb2.GetOntologyRequest,
        _context: Context,
    ) -> ontology_pb2.GetOntologyResponse:
        """The space's ontology."""
        return await self._ontologies.get()

    async def PutOntology(
        self,
        request: ontology_pb2.PutOntologyRequest,
        _context: Context,
    ) -> ontology_pb2.PutOntologyResponse:
        """Replaces the space's ontology."""
        return await self._ontologies.put(request)

    async def DeleteEpisodes(
        self,
        request: ingest_pb2.DeleteEpisodesRequest,
        _context: Context,
    ) -> ingest_pb2.DeleteEpisodesResponse:
        """Removes chunks."""
        uuids = sorted({uuid.lower() for uuid in request.uuids})
        counts = await self._store.delete_episodes(current_call().space, uuids)
        return ingest_pb2.DeleteEpisodesResponse(
            episodes_deleted=counts.episodes,
            facts_deleted=counts.facts,
            local_facts_deleted=counts.local_facts,
            mentions_deleted=counts.mentions,
            entities_deleted=counts.entities,
            findings_deleted=counts.findings,
            facts_revived=counts.revived,
        )

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

    async def SearchFindings(
        self,
        request: findings_pb2.SearchFindingsRequest,
        _context: Context,
    ) -> findings_pb2.SearchFindingsResponse:
        """Finds findings."""
        return await self._findings.search(request)

    async def _add(self, episodes: Sequence[ingest_pb2.EpisodeInput]) -> EpisodeCounts:
        passages = [mapping.passage(episode) for episode in episodes]
        if len({passage.uuid for passage in passages}) != len(passages):
            raise InvalidFieldError(FieldError("episodes", "their uuids must be distinct"))
        return await self._episodes.add(current_call().space, passages)


def _counts(counts: EpisodeCounts) -> ingest_pb2.EpisodeCounts:
    return ingest_pb2.EpisodeCounts(
        episodes_added=counts.episodes,
        entities_added=counts.entities,
        mentions_added=counts.mentions,
        local_facts_added=counts.local_facts,
        facts_added=counts.facts,
        facts_ended=counts.ended,
    )
