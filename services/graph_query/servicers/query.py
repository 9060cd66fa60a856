"""GraphQueryService over the store."""

from __future__ import annotations

import time
from typing import Any

import grpc

from braid.graph.v1 import (
    entities_pb2,
    expansion_pb2,
    findings_pb2,
    history_pb2,
    ontology_pb2,
    query_pb2,
    query_pb2_grpc,
    relations_pb2,
    structure_pb2,
)
from services.graph_query.core.names import name_key
from services.graph_query.core.store import GraphStore
from services.graph_query.embeddings.space_models import QueryVector
from services.graph_query.search.fact_search import FactSearch, FactSearcher
from services.graph_query.servicers import fact_mapping as mapping
from services.graph_query.servicers.entities import EntityHandler
from services.graph_query.servicers.findings import FindingHandler
from services.graph_query.servicers.history import HistoryHandler
from services.graph_query.servicers.ontology import OntologyHandler
from services.graph_query.servicers.page_cursor import entity_position, listing_query
from services.graph_query.servicers.relations import ExpansionCalls, RelationCalls
from services.runtime.context import current_call
from services.runtime.paging import encode_token, page_size
from services.runtime.times import to_timestamp

_SEARCH_LIMIT = 10


_NEIGHBOR_LIMIT = 20


_PAGE_SIZE = 50
_MAX_PAGE_SIZE = 200


Context = grpc.aio.ServicerContext[Any, Any]


class GraphQueryServicer(query_pb2_grpc.GraphQueryServiceServicer):
    """Reads of the caller's space."""

    def __init__(
        self,
        store: GraphStore,
        searcher: FactSearcher,
        history: HistoryHandler,
        entities: EntityHandler,
        *,
        relations: RelationCalls,
        expansions: ExpansionCalls,
        findings: FindingHandler,
        ontologies: OntologyHandler,
    ) -> None:
        self._store = store
        self._searcher = searcher
        self._history = history
        self._entities = entities
        self._relations = relations
        self._expansions = expansions
        self._findings = findings
        self._ontologies = ontologies

    async def SearchFacts(
        self,
        request: query_pb2.SearchFactsRequest,
        _context: Context,
    ) -> query_pb2.SearchFactsResponse:
        """Returns facts that answer a question."""
        started = time.perf_counter_ns()
        given = request.query_embedding if request.HasField("query_embedding") else None
        search = FactSearch(
            query=request.query,
            limit=request.limit if request.HasField("limit") else _SEARCH_LIMIT,
            only=mapping.fact_filter(
                request.as_of if request.HasField("as_of") else None,
                request.entity_name,
                request.relation_type,
            ),
            vector=QueryVector(given.embedding_model, list(given.values)) if given else None,
            text_only=request.text_only,
            min_score=request.min_score if request.HasField("min_score") else None,
            ordering=mapping.ordering(request),
            known=mapping.seconds(request.known_time) if request.HasField("known_time") else None,
        )
        return mapping.answer(await self._searcher.search(current_call().space, search), started)

    async def GetNeighborhood(
        self,
        request: query_pb2.GetNeighborhoodRequest,
        _context: Context,
    ) -> query_pb2.GetNeighborhoodResponse:
        """Returns an entity's neighbors."""
        found = await self._store.neighborhood(
            current_call().space,
            name_key(request.entity_name),
            request.entity_type,
            request.limit if request.HasField("limit") else _NEIGHBOR_LIMIT,
            mapping.fact_filter(request.as_of if request.HasField("as_of") else None),
        )
        return query_pb2.GetNeighborhoodResponse(
            center=mapping.entity(found.center),
            nodes=[mapping.entity(node) for node in found.nodes],
            edges=[mapping.fact(edge) for edge in found.edges],
            neighbor_count=found.total,
            truncated=found.total > len(found.nodes),
            homonyms=[mapping.entity_ref(one) for one in found.homonyms],
        )

    async def ListEntities(
        self,
        request: query_pb2.ListEntitiesRequest,
        _context: Context,
    ) -> query_pb2.ListEntitiesResponse:
        """Returns a page of entities."""
        space = current_call().space
        listing = mapping.entity_listing(request)
        query = listing_query(space, listing)
        size = page_size(request.page_size, default=_PAGE_SIZE, largest=_MAX_PAGE_SIZE)
        after = entity_position(request.page_token, query)
        page = await self._store.list_entities(space, listing, after, size)
        return query_pb2.ListEntitiesResponse(
            entities=[mapping.entity(one) for one in page.entities],
            next_page_token=encode_token(query, list(page.next)) if page.next else "",
        )

    async def ListFacts(
        self,
        request: structure_pb2.ListFactsRequest,
        _context: Context,
    ) -> structure_pb2.ListFactsResponse:
        """Returns a page of stated facts."""
        return await self._history.list_facts(request)

    async def GetFact(
        self,
        request: structure_pb2.GetFactRequest,
        _context: Context,
    ) -> structure_pb2.GetFactResponse:
        """Returns a fact with its versions."""
        return await self._history.get_fact(request)

    async def GetEntity(
        self,
        request: entities_pb2.GetEntityRequest,
        _context: Context,
    ) -> entities_pb2.GetEntityResponse:
        """Returns an entity by name or id."""
        return await self._entities.entity(request)

    async def LinkEntities(
        self,
        request: entities_pb2.LinkEntitiesRequest,
        _context: Context,
    ) -> entities_pb2.LinkEntitiesResponse:
        """Returns the entities that a text names."""
        return await self._entities.link(request)

    async def GetEntityHistory(
        self,
        request: history_pb2.GetEntityHistoryRequest,
        _context: Context,
    ) -> history_pb2.GetEntityHistoryResponse:
        """Returns an entity's facts in time order."""
        return await self._history.history(request)

    async def GetSnapshot(
        self,
        request: history_pb2.GetSnapshotRequest,
        _context: Context,
    ) -> history_pb2.GetSnapshotResponse:
        """Returns the facts valid at a time."""
        return await self._history.snapshot(request)

    async def DiffGraph(
        self,
        request: history_pb2.DiffGraphRequest,
        _context: Context,
    ) -> history_pb2.DiffGraphResponse:
        """Returns the differences between two times."""
        return await self._history.diff(request)

    async def FindPaths(
        self,
        request: structure_pb2.FindPathsRequest,
        _context: Context,
    ) -> structure_pb2.FindPathsResponse:
        """Returns the shortest paths between two entities."""
        return await self._entities.paths(request)

    async def GetMentionSubgraph(
        self,
        request: structure_pb2.GetMentionSubgraphRequest,
        _context: Context,
    ) -> structure_pb2.GetMentionSubgraphResponse:
        """Returns the chunks around some chunks and entities."""
        return await self._entities.subgraph(request)

    async def Expand(
        self,
        request: expansion_pb2.ExpandRequest,
        _context: Context,
    ) -> expansion_pb2.ExpandResponse:
        """Expands a ranked list along relations."""
        return await self._expansions.expand(request)

    async def ListRelations(
        self,
        request: relations_pb2.ListRelationsRequest,
        _context: Context,
    ) -> relations_pb2.ListRelationsResponse:
        """Returns a page of relations between chunks."""
        return await self._relations.list(request)

    async def GetRelationStats(
        self,
        _request: relations_pb2.GetRelationStatsRequest,
        _context: Context,
    ) -> relations_pb2.GetRelationStatsResponse:
        """Returns counts of the relations between chunks."""
        return await self._relations.stats()

    async def SearchFindings(
        self,
        request: findings_pb2.SearchFindingsRequest,
        _context: Context,
    ) -> findings_pb2.SearchFindingsResponse:
        """Finds findings by words, meaning and fields."""
        return await self._findings.search(request)

    async def GetOntology(
        self,
        _request: ontology_pb2.GetOntologyRequest,
        _context: Context,
    ) -> ontology_pb2.GetOntologyResponse:
        """Returns the space's ontology."""
        return await self._ontologies.get()

    async def GetGraphStats(
        self,
        _request: query_pb2.GetGraphStatsRequest,
        _context: Context,
    ) -> query_pb2.GetGraphStatsResponse:
        """Returns counts of the graph."""
        found = await self._store.stats(current_call().space)
        return query_pb2.GetGraphStatsResponse(
            entity_count=found.entities,
            fact_count=found.facts,
            local_fact_count=found.local_facts,
            episode_count=found.episodes,
            entity_counts_by_type=found.entities_by_type,
            last_ingest_time=to_timestamp(found.last_write) if found.last_write else None,
            index_states={
                name: query_pb2.IndexState.Value(f"INDEX_STATE_{state}")
                for name, state in found.indexes.items()
            },
            space_revision=found.revision,
        )
