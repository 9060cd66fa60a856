"""Opens the channels and clients of both tiers, and says whether a tier answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc

from services.agent_orchestrator.clients.chunk_searches import ChunkSearches
from services.agent_orchestrator.clients.health_watch import HealthWatch
from services.agent_orchestrator.clients.inventories import GraphInventory, VectorInventory
from services.agent_orchestrator.clients.model_migration import GraphModels, VectorModels
from services.agent_orchestrator.clients.quarantine import GraphQuarantine
from services.agent_orchestrator.clients.relations import GraphRelations
from services.agent_orchestrator.clients.spaces import SpaceTiers
from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier, check_serving
from services.agent_orchestrator.clients.transfer import TransferTiers
from services.agent_orchestrator.settings import AgentSettings
from services.runtime.channels import OutgoingMetadata, open_channel
from services.runtime.errors import StoreUnavailableError
from services.runtime.settings import RuntimeSettings

if TYPE_CHECKING:
    from services.runtime.health import Probe

PROBE_SECONDS = 1.2


@dataclass(frozen=True, slots=True)
class Tiers:
    """The tiers' clients."""

    vector: VectorTier
    graph: GraphTier
    vector_ids: VectorInventory
    graph_ids: GraphInventory
    vector_models: VectorModels
    graph_models: GraphModels
    searches: ChunkSearches
    relations: GraphRelations
    quarantine: GraphQuarantine
    spaces: SpaceTiers
    transfer: TransferTiers
    channels: Mapping[str, grpc.aio.Channel]
    health: Mapping[str, HealthWatch]


@asynccontextmanager
async def open_tiers(settings: AgentSettings, runtime: RuntimeSettings) -> AsyncIterator[Tiers]:
    """Yields clients of the tiers, closed when the block is left."""
    size = runtime.max_message_bytes
    async with (
        open_channel(settings.vector_target, max_message_bytes=size, security=runtime) as vector,
        open_channel(settings.graph_target, max_message_bytes=size, security=runtime) as graph,
        HealthWatch(vector) as vector_health,
        HealthWatch(graph) as graph_health,
    ):
        outgoing = OutgoingMetadata.of(runtime)
        yield Tiers(
            VectorTier(
                vector,
                outgoing,
                vector_health,
                read_seconds=settings.read_seconds,
                write_seconds=settings.write_seconds,
            ),
            GraphTier(graph, outgoing, graph_health, write_seconds=settings.write_seconds),
            VectorInventory(vector, outgoing, seconds=settings.read_seconds),
            GraphInventory(
                graph,
                outgoing,
                seconds=settings.read_seconds,
                write_seconds=settings.write_seconds,
            ),
            VectorModels(vector, outgoing, seconds=settings.write_seconds),
            GraphModels(graph, outgoing, seconds=settings.write_seconds),
            ChunkSearches(vector, outgoing, seconds=settings.read_seconds),
            GraphRelations(
                graph,
                outgoing,
                graph_health,
                read_seconds=settings.read_seconds,
                write_seconds=settings.write_seconds,
            ),
            GraphQuarantine(
                graph,
                outgoing,
                seconds=settings.read_seconds,
                write_seconds=settings.write_seconds,
            ),
            SpaceTiers(
                vector,
                graph,
                outgoing,
                read_seconds=settings.read_seconds,
                write_seconds=settings.write_seconds,
            ),
            TransferTiers(
                vector,
                graph,
                outgoing,
                read_seconds=settings.read_seconds,
                write_seconds=settings.write_seconds,
            ),
            {"vector": vector, "graph": graph},
            {"vector": vector_health, "graph": graph_health},
        )


def any_tier_healthy(channels: Mapping[str, grpc.aio.Channel]) -> Probe:
    """Returns a probe that is healthy while at least one tier is: every search can then be answered."""

    async def probe() -> None:
        answers = await asyncio.gather(
            *(check_serving(channel, name, PROBE_SECONDS) for name, channel in channels.items()),
            return_exceptions=True,
        )
        if all(isinstance(answer, BaseException) for answer in answers):
            raise StoreUnavailableError("every tier")

    return probe
