"""Builds the services about spaces as a whole."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from braid.agent.v1 import spaces_pb2_grpc, transfer_pb2_grpc
from services.agent_orchestrator.clients.spaces import SpaceTiers
from services.agent_orchestrator.clients.transfer import TransferTiers
from services.agent_orchestrator.database import Database
from services.agent_orchestrator.spaces.retention import SettingsStore
from services.agent_orchestrator.spaces.servicer import SpaceServicer
from services.agent_orchestrator.spaces.store import SpaceStore
from services.agent_orchestrator.spaces.transfer import SpaceTransfer
from services.agent_orchestrator.spaces.transfer_servicer import SpaceTransferServicer
from services.agent_orchestrator.spaces.transfer_store import TransferStore
from services.runtime.server import Service


def space_services(
    store: SpaceStore,
    database: Database,
    tiers: SpaceTiers,
    transfer: TransferTiers,
    partitions: Callable[[str], Awaitable[Sequence[str]]],
) -> tuple[Service, Service]:
    """Builds them over the orchestrator's database and the tiers.

    `partitions` returns a space's further partitions of the tiers: one for each user with memories.
    """
    moved = SpaceTransfer(TransferStore(database), store, transfer, tiers, partitions)
    return (
        Service(
            "braid.agent.v1.SpaceService",
            partial(
                spaces_pb2_grpc.add_SpaceServiceServicer_to_server,
                SpaceServicer(store, tiers, SettingsStore(database)),
            ),
        ),
        Service(
            "braid.agent.v1.SpaceTransferService",
            partial(
                transfer_pb2_grpc.add_SpaceTransferServiceServicer_to_server,
                SpaceTransferServicer(moved),
            ),
        ),
    )
