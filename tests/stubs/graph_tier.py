"""An in-memory graph tier with the real contracts, on a real socket."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import legs_pb2
from braid.graph.internal.v1 import (
    deletion_pb2,
    deletion_pb2_grpc,
    embeddings_pb2,
    embeddings_pb2_grpc,
    inventory_pb2,
    inventory_pb2_grpc,
)
from braid.graph.v1 import (
    corrections_pb2,
    entities_pb2,
    expansion_pb2,
    facts_pb2,
    findings_pb2,
    history_pb2,
    ingest_pb2,
    ingest_pb2_grpc,
    query_pb2,
    query_pb2_grpc,
    relations_pb2,
    structure_pb2,
)
from services.runtime.context import current_call
from services.runtime.errors import NotFoundError
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.settings import RuntimeSettings
from tests.stubs.script import Script


@dataclass
class GraphStub(
    query_pb2_grpc.GraphQueryServiceServicer, ingest_pb2_grpc.GraphIngestServiceServicer
):
    """The graph tier: `answer` is the response of SearchFacts, `linked` and `subgraph` are those for expansions.

    `replies` has the responses of other reads by method, or functions that return them.
    Episodes are stored by (space, chunk id). Facts with both a
    valid and an invalid time are refused, so that tests can produce a refusal.
    """

    script: Script = field(default_factory=Script)
    answer: query_pb2.SearchFactsResponse = field(
        default_factory=lambda: query_pb2.SearchFactsResponse(
            leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_NO_MATCH)
        )
    )
    linked: entities_pb2.LinkEntitiesResponse = field(
        default_factory=entities_pb2.LinkEntitiesResponse
    )
    subgraph: structure_pb2.GetMentionSubgraphResponse = field(
        default_factory=structure_pb2.GetMentionSubgraphResponse
    )
    replies: dict[str, Message | Callable[[Any], Message]] = field(default_factory=dict)
    episodes: dict[tuple[str, str], ingest_pb2.EpisodeInput] = field(default_factory=dict)
    facts: list[ingest_pb2.FactInput] = field(default_factory=list)
    settled: corrections_pb2.SettleFactSourceResponse = field(
        default_factory=corrections_pb2.SettleFactSourceResponse
    )
    known_facts: set[bytes] = field(default_factory=set)
    writes: Counter[str] = field(default_factory=Counter)
    deletions: dict[str, int] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)
    ended: dict[tuple[str, str], Timestamp] = field(default_factory=dict)
    relations: list[relations_pb2.ChunkRelation] = field(default_factory=list)
    expanded: expansion_pb2.ExpandResponse = field(default_factory=expansion_pb2.ExpandResponse)
    embeddings: embeddings_pb2.GetGraphEmbeddingsResponse = field(
        default_factory=embeddings_pb2.GetGraphEmbeddingsResponse
    )

    async def SearchFacts(
        self, request: query_pb2.SearchFactsRequest, context: Any
    ) -> query_pb2.SearchFactsResponse:
        await self.script.note("SearchFacts", request)
        return self.answer

    async def LinkEntities(
        self, request: entities_pb2.LinkEntitiesRequest, context: Any
    ) -> entities_pb2.LinkEntitiesResponse:
        await self.script.note("LinkEntities", request)
        return self.linked

    async def GetMentionSubgraph(
        self, request: structure_pb2.GetMentionSubgraphRequest, context: Any
    ) -> structure_pb2.GetMentionSubgraphResponse:
        await self.script.note("GetMentionSubgraph", request)
        return self.subgraph

    async def GetEntity(
        self, request: entities_pb2.GetEntityRequest, context: Any
    ) -> entities_pb2.GetEntityResponse:
        return await self._reply("GetEntity", request)  # type: ignore[no-any-return]

    async def GetEntityHistory(
        self, request: history_pb2.GetEntityHistoryRequest, context: Any
    ) -> history_pb2.GetEntityHistoryResponse:
        return await self._reply("GetEntityHistory", request)  # type: ignore[no-any-return]

    async def GetSnapshot(
        self, request: history_pb2.GetSnapshotRequest, context: Any
    ) -> history_pb2.GetSnapshotResponse:
        empty = history_pb2.GetSnapshotResponse()
        return await self._reply("GetSnapshot", request, empty)  # type: ignore[no-any-return]

    async def DiffGraph(
        self, request: history_pb2.DiffGraphRequest, context: Any
    ) -> history_pb2.DiffGraphResponse:
        empty = history_pb2.DiffGraphResponse()
        return await self._reply("DiffGraph", request, empty)  # type: ignore[no-any-return]

    async def GetGraphStats(
        self, request: query_pb2.GetGraphStatsRequest, context: Any
    ) -> query_pb2.GetGraphStatsResponse:
        filled = query_pb2.GetGraphStatsResponse(entity_count=1)
        return await self._reply("GetGraphStats", request, filled)  # type: ignore[no-any-return]

    async def SearchFindings(
        self, request: findings_pb2.SearchFindingsRequest, context: Any
    ) -> findings_pb2.SearchFindingsResponse:
        nothing = findings_pb2.SearchFindingsResponse(
            leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_NO_MATCH)
        )
        return await self._reply("SearchFindings", request, nothing)  # type: ignore[no-any-return]

    async def _reply(self, method: str, request: Message, default: Message | None = None) -> Any:
        """Returns the method's response in `replies`, else the default. Raises NotFoundError without either."""
        await self.script.note(method, request)
        reply = self.replies.get(method, default)
        if reply is None:
            raise NotFoundError("entity")
        return reply(request) if callable(reply) else reply

    async def Expand(
        self, request: expansion_pb2.ExpandRequest, context: Any
    ) -> expansion_pb2.ExpandResponse:
        await self.script.note("Expand", request)
        return self.expanded

    async def ListRelations(
        self, request: relations_pb2.ListRelationsRequest, context: Any
    ) -> relations_pb2.ListRelationsResponse:
        await self.script.note("ListRelations", request)
        begin = int(request.page_token or 0)
        end = begin + request.page_size
        more = end < len(self.relations)
        return relations_pb2.ListRelationsResponse(
            relations=self.relations[begin:end], next_page_token=str(end) if more else ""
        )

    async def BatchAddEpisodes(
        self, request: ingest_pb2.BatchAddEpisodesRequest, context: Any
    ) -> ingest_pb2.BatchAddEpisodesResponse:
        await self.script.note("BatchAddEpisodes", request)
        space = current_call().space
        new = [one for one in request.episodes if (space, one.chunk_id) not in self.episodes]
        self.episodes |= {(space, one.chunk_id): one for one in new}
        self.writes["episodes"] += len(new)
        return ingest_pb2.BatchAddEpisodesResponse(
            counts=ingest_pb2.EpisodeCounts(added_episode_count=len(new))
        )

    async def SettleFactSource(
        self, request: corrections_pb2.SettleFactSourceRequest, context: Any
    ) -> corrections_pb2.SettleFactSourceResponse:
        await self.script.note("SettleFactSource", request)
        return self.settled

    async def AddFacts(
        self, request_iterator: AsyncIterator[ingest_pb2.AddFactsRequest], context: Any
    ) -> ingest_pb2.AddFactsResponse:
        answer = ingest_pb2.AddFactsResponse(space_revision=1, source_revision=1)
        index = 0
        async for request in request_iterator:
            await self.script.note("AddFacts", request)
            for fact in request.facts:
                self._add_fact(fact, index, answer)
                index += 1
        return answer

    def _add_fact(
        self, fact: ingest_pb2.FactInput, index: int, answer: ingest_pb2.AddFactsResponse
    ) -> None:
        bare = ingest_pb2.FactInput()
        bare.CopyFrom(fact)
        bare.ClearField("embedding")
        if fact.HasField("valid_time") and fact.HasField("invalid_time"):
            answer.refused_count += 1
            answer.refused.add(index=index, reason="ends before it starts")
        elif bare.SerializeToString(deterministic=True) in self.known_facts:
            answer.unchanged_count += 1
        else:
            answer.added_count += 1
            self.known_facts.add(bare.SerializeToString(deterministic=True))
            self.facts.append(fact)

    async def PutRelations(
        self, request: relations_pb2.PutRelationsRequest, context: Any
    ) -> relations_pb2.PutRelationsResponse:
        await self.script.note("PutRelations", request)
        return relations_pb2.PutRelationsResponse(created_count=len(request.relations))

    async def DeleteRelations(
        self, request: relations_pb2.DeleteRelationsRequest, context: Any
    ) -> relations_pb2.DeleteRelationsResponse:
        await self.script.note("DeleteRelations", request)
        return relations_pb2.DeleteRelationsResponse(deleted_count=len(request.relations))


@dataclass
class GraphEmbeddingStub(embeddings_pb2_grpc.GraphEmbeddingServiceServicer):
    """The embedding service of the stub."""

    tier: GraphStub

    async def GetGraphEmbeddings(
        self, request: embeddings_pb2.GetGraphEmbeddingsRequest, context: Any
    ) -> embeddings_pb2.GetGraphEmbeddingsResponse:
        await self.tier.script.note("GetGraphEmbeddings", request)
        return self.tier.embeddings


@dataclass
class GraphInventoryStub(inventory_pb2_grpc.GraphInventoryServiceServicer):
    """The inventory of the stub, in one page."""

    tier: GraphStub

    async def ListGraphSpaces(
        self, request: inventory_pb2.ListGraphSpacesRequest, context: Any
    ) -> inventory_pb2.ListGraphSpacesResponse:
        await self.tier.script.note("ListGraphSpaces", request)
        return inventory_pb2.ListGraphSpacesResponse()

    async def ListEpisodes(
        self, request: inventory_pb2.ListEpisodesRequest, context: Any
    ) -> inventory_pb2.ListEpisodesResponse:
        await self.tier.script.note("ListEpisodes", request)
        return inventory_pb2.ListEpisodesResponse(
            episodes=[
                inventory_pb2.EpisodeRef(chunk_id=one.chunk_id, document_id=one.document_id)
                for one in sorted(stored_episodes(self.tier), key=lambda one: one.chunk_id)
            ]
        )

    async def FindEpisodes(
        self, request: inventory_pb2.FindEpisodesRequest, context: Any
    ) -> inventory_pb2.FindEpisodesResponse:
        await self.tier.script.note("FindEpisodes", request)
        found = {one.chunk_id for one in stored_episodes(self.tier)} & set(request.chunk_ids)
        return inventory_pb2.FindEpisodesResponse(chunk_ids=sorted(found))

    async def ListGraphDocuments(
        self, request: inventory_pb2.ListGraphDocumentsRequest, context: Any
    ) -> inventory_pb2.ListGraphDocumentsResponse:
        await self.tier.script.note("ListGraphDocuments", request)
        found = {one.document_id for one in stored_episodes(self.tier)}
        return inventory_pb2.ListGraphDocumentsResponse(document_ids=sorted(found))

    async def ListUnjoinedEntities(
        self, request: inventory_pb2.ListUnjoinedEntitiesRequest, context: Any
    ) -> inventory_pb2.ListUnjoinedEntitiesResponse:
        await self.tier.script.note("ListUnjoinedEntities", request)
        return inventory_pb2.ListUnjoinedEntitiesResponse(
            entities=[
                inventory_pb2.UnjoinedEntity(id=one, name="Stray") for one in self.tier.strays
            ],
            examined_count=len(self.tier.strays),
        )

    async def ListFactSources(
        self, request: inventory_pb2.ListFactSourcesRequest, context: Any
    ) -> inventory_pb2.ListFactSourcesResponse:
        await self.tier.script.note("ListFactSources", request)
        return inventory_pb2.ListFactSourcesResponse()

    async def ListFindingsWithoutEpisode(
        self, request: inventory_pb2.ListFindingsWithoutEpisodeRequest, context: Any
    ) -> inventory_pb2.ListFindingsWithoutEpisodeResponse:
        await self.tier.script.note("ListFindingsWithoutEpisode", request)
        return inventory_pb2.ListFindingsWithoutEpisodeResponse()

    async def GetGraphState(
        self, request: inventory_pb2.GetGraphStateRequest, context: Any
    ) -> inventory_pb2.GetGraphStateResponse:
        await self.tier.script.note("GetGraphState", request)
        return inventory_pb2.GetGraphStateResponse(ontology_readable=True)


@dataclass
class GraphDeletionStub(deletion_pb2_grpc.GraphDeletionServiceServicer):
    """The deletion service of the stub."""

    tier: GraphStub

    async def DeleteEpisodes(
        self, request: deletion_pb2.DeleteEpisodesRequest, context: Any
    ) -> deletion_pb2.DeleteEpisodesResponse:
        await self.tier.script.note("DeleteEpisodes", request)
        space = current_call().space
        gone = [
            u for u in request.chunk_ids if self.tier.episodes.pop((space, u), None) is not None
        ]
        return deletion_pb2.DeleteEpisodesResponse(
            deleted_episode_count=len(gone),
            deleted_mention_count=2 * len(gone),
            deleted_entity_count=len(gone),
        )

    async def EndGraphDocument(
        self, request: deletion_pb2.EndGraphDocumentRequest, context: Any
    ) -> deletion_pb2.EndGraphDocumentResponse:
        await self.tier.script.note("EndGraphDocument", request)
        key = (current_call().space, request.document_id)
        self.tier.ended[key] = request.end_time
        return deletion_pb2.EndGraphDocumentResponse()

    async def DeleteUnjoinedEntities(
        self, request: deletion_pb2.DeleteUnjoinedEntitiesRequest, context: Any
    ) -> deletion_pb2.DeleteUnjoinedEntitiesResponse:
        await self.tier.script.note("DeleteUnjoinedEntities", request)
        gone = [one for one in request.entity_ids if one in self.tier.strays]
        self.tier.strays = [one for one in self.tier.strays if one not in gone]
        return deletion_pb2.DeleteUnjoinedEntitiesResponse(deleted_entity_count=len(gone))

    async def DeleteGraphDocument(
        self, request: deletion_pb2.DeleteGraphDocumentRequest, context: Any
    ) -> deletion_pb2.DeleteGraphDocumentResponse:
        await self.tier.script.note("DeleteGraphDocument", request)
        if request.deletion_id not in self.tier.deletions:
            gone = [
                one for one in stored_episodes(self.tier) if one.document_id == request.document_id
            ]
            for one in gone:
                del self.tier.episodes[current_call().space, one.chunk_id]
            self.tier.deletions[request.deletion_id] = len(gone)
        count = self.tier.deletions[request.deletion_id]
        return deletion_pb2.DeleteGraphDocumentResponse(
            deleted_episode_count=count, deleted_mention_count=2 * count, deleted_entity_count=count
        )

    async def DeleteSpaceGraph(
        self, request: deletion_pb2.DeleteSpaceGraphRequest, context: Any
    ) -> deletion_pb2.DeleteSpaceGraphResponse:
        await self.tier.script.note("DeleteSpaceGraph", request)
        space = current_call().space
        gone = [key for key in self.tier.episodes if key[0] == space]
        for key in gone:
            del self.tier.episodes[key]
        return deletion_pb2.DeleteSpaceGraphResponse(deleted_episode_count=len(gone))


def stored_episodes(tier: GraphStub) -> list[ingest_pb2.EpisodeInput]:
    """Returns the episodes of the caller's space."""
    space = current_call().space
    return [one for (owner, _), one in tier.episodes.items() if owner == space]


async def serve_graph(
    stub: GraphStub, settings: RuntimeSettings, listen: str = "127.0.0.1:0"
) -> RunningServer:
    """Serves the stub on a socket."""
    return await start_server(
        settings=settings,
        listen=listen,
        probes={},
        services=[
            Service(
                "braid.graph.v1.GraphQueryService",
                lambda server: query_pb2_grpc.add_GraphQueryServiceServicer_to_server(stub, server),
            ),
            Service(
                "braid.graph.v1.GraphIngestService",
                lambda server: ingest_pb2_grpc.add_GraphIngestServiceServicer_to_server(
                    stub, server
                ),
            ),
            Service(
                "braid.graph.internal.v1.GraphEmbeddingService",
                lambda server: embeddings_pb2_grpc.add_GraphEmbeddingServiceServicer_to_server(
                    GraphEmbeddingStub(stub),  # type: ignore[abstract] # no test uses its other methods
                    server,
                ),
            ),
            Service(
                "braid.graph.internal.v1.GraphInventoryService",
                lambda server: inventory_pb2_grpc.add_GraphInventoryServiceServicer_to_server(
                    GraphInventoryStub(stub), server
                ),
            ),
            Service(
                "braid.graph.internal.v1.GraphDeletionService",
                lambda server: deletion_pb2_grpc.add_GraphDeletionServiceServicer_to_server(
                    GraphDeletionStub(stub), server
                ),
            ),
        ],
    )


def fact_hit(
    uuid: str,
    chunk_ids: Sequence[str] = (),
    score: float = 0.5,
    origin: facts_pb2.FactOrigin.ValueType = facts_pb2.FACT_ORIGIN_GIVEN,
    support: float = 0.0,
) -> facts_pb2.FactHit:
    """Builds a hit of the graph tier that cites chunks."""
    fact = facts_pb2.Fact(id=uuid, statement=f"sentence {uuid}", origin=origin)
    for chunk_id in chunk_ids:
        fact.sources.add(
            chunk_id=chunk_id, document_id=f"doc-{chunk_id}", quote=f"quote {chunk_id}"
        )
    scores = facts_pb2.FactScores(support=support)
    return facts_pb2.FactHit(fact=fact, score=score, scores=scores)
