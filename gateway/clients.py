"""The gateway's channels and stubs: one channel per service, shared by all requests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from braid.agent.v1 import (
    agent_pb2_grpc,
    consistency_pb2_grpc,
    entity_memory_pb2_grpc,
    jobs_pb2_grpc,
    memories_pb2_grpc,
    models_pb2_grpc,
    profile_pb2_grpc,
    sources_pb2_grpc,
    spaces_pb2_grpc,
    transfer_pb2_grpc,
)
from braid.agent.v1 import ingest_pb2_grpc as agent_ingest
from braid.agent.v1 import search_pb2_grpc as agent_search
from braid.graph.v1 import ingest_pb2_grpc as graph_ingest
from braid.graph.v1 import query_pb2_grpc as graph_query
from braid.vector.v1 import documents_pb2_grpc, search_pb2_grpc
from services.runtime.channels import OutgoingMetadata, open_channel
from services.runtime.health import REASON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.settings import GatewaySettings

SERVICES = ("agent_orchestrator", "vector_search", "graph_query")
HEALTH_TIMEOUT = 1.0
SERVING = "SERVING"


class Health(NamedTuple):
    """SERVING, NOT_SERVING or UNREACHABLE, with the reason if the service gives one."""

    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Clients:
    """Stubs of every service that the gateway calls, and the metadata of its calls."""

    agent: agent_pb2_grpc.AgentServiceStub
    search: agent_search.SearchServiceStub
    ingest: agent_ingest.IngestServiceStub
    jobs: jobs_pb2_grpc.JobServiceStub
    consistency: consistency_pb2_grpc.ConsistencyServiceStub
    entity_memory: entity_memory_pb2_grpc.EntityMemoryServiceStub
    memories: memories_pb2_grpc.MemoryServiceStub
    models: models_pb2_grpc.ModelServiceStub
    profile: profile_pb2_grpc.ProfileServiceStub
    sources: sources_pb2_grpc.SourceServiceStub
    spaces: spaces_pb2_grpc.SpaceServiceStub
    transfer: transfer_pb2_grpc.SpaceTransferServiceStub
    chunks: search_pb2_grpc.VectorSearchServiceStub
    documents: documents_pb2_grpc.DocumentServiceStub
    graph: graph_query.GraphQueryServiceStub
    graph_ingest: graph_ingest.GraphIngestServiceStub
    outgoing: OutgoingMetadata
    channels: Mapping[str, grpc.aio.Channel]

    async def health(self) -> dict[str, Health]:
        """Returns each service's health by name, within about a second."""
        channels = self.channels.values()
        states = await asyncio.gather(*(_health(channel) for channel in channels))
        return dict(zip(self.channels, states, strict=True))

    async def close(self) -> None:
        """Closes all channels; running calls are cancelled."""
        await asyncio.gather(*(channel.close() for channel in self.channels.values()))


def open_clients(settings: GatewaySettings) -> Clients:
    """Creates clients of the configured services. Channels connect at first use; needs a running event loop."""
    targets = (settings.agent_target, settings.vector_target, settings.graph_target)
    agent, vector, graph = (
        open_channel(target, max_message_bytes=settings.max_message_bytes, security=settings)
        for target in targets
    )
    return Clients(
        agent=agent_pb2_grpc.AgentServiceStub(agent),
        search=agent_search.SearchServiceStub(agent),
        ingest=agent_ingest.IngestServiceStub(agent),
        jobs=jobs_pb2_grpc.JobServiceStub(agent),
        consistency=consistency_pb2_grpc.ConsistencyServiceStub(agent),
        entity_memory=entity_memory_pb2_grpc.EntityMemoryServiceStub(agent),
        memories=memories_pb2_grpc.MemoryServiceStub(agent),
        models=models_pb2_grpc.ModelServiceStub(agent),
        profile=profile_pb2_grpc.ProfileServiceStub(agent),
        sources=sources_pb2_grpc.SourceServiceStub(agent),
        spaces=spaces_pb2_grpc.SpaceServiceStub(agent),
        transfer=transfer_pb2_grpc.SpaceTransferServiceStub(agent),
        chunks=search_pb2_grpc.VectorSearchServiceStub(vector),
        documents=documents_pb2_grpc.DocumentServiceStub(vector),
        graph=graph_query.GraphQueryServiceStub(graph),
        graph_ingest=graph_ingest.GraphIngestServiceStub(graph),
        outgoing=OutgoingMetadata.of(settings, narrow_scopes=True),
        channels=dict(zip(SERVICES, (agent, vector, graph), strict=True)),
    )


async def _health(channel: grpc.aio.Channel) -> Health:
    """Returns the better of two answers: they come from different replicas, of which one may be unavailable."""
    first, second = await asyncio.gather(_health_of_one(channel), _health_of_one(channel))
    return second if second.state == SERVING else first


async def _health_of_one(channel: grpc.aio.Channel) -> Health:
    stub: Any = health_pb2_grpc.HealthStub(channel)  # untyped in its package
    call = stub.Check(health_pb2.HealthCheckRequest(), timeout=HEALTH_TIMEOUT)
    try:
        answer = await call
    except grpc.aio.AioRpcError:
        return Health("UNREACHABLE")
    reason = dict(await call.trailing_metadata()).get(REASON, "")
    return Health(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status), reason)
