"""The entity memory service over gRPC and real PostgreSQL, with callers in two spaces."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import httpx2
import numpy as np
import pytest
from pydantic import SecretStr
from pydantic_ai import RunContext
from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage

from braid.agent.v1 import entity_memory_pb2 as pb
from braid.agent.v1 import entity_memory_pb2_grpc
from gateway.settings import GatewaySettings
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.app import ENTITY_MEMORY_SERVICE
from services.agent_orchestrator.clients.space_models import Recorded
from services.agent_orchestrator.entity_memory.app import EntityMemoryParts, open_entity_memory
from services.agent_orchestrator.entity_memory.settings import EntityMemorySettings
from services.models.embedding.vectors import Matrix
from services.postgres.pool import Pool, PoolLimits
from services.runtime.channels import open_channel
from services.runtime.errors import EmbedderUnavailableError
from services.runtime.security.api_keys import hash_key
from services.runtime.server import Service, start_server
from services.runtime.settings import RuntimeSettings
from tests.integration.gateway.conftest import serve_gateway
from tests.integration.gateway.scripted import LOOPBACK, Script
from tests.stores import TestDatabase

Metadata = tuple[tuple[str, str], ...]
DIMENSION = 64
# For AgentDependencies; these tests do not use the tiers.
NO_TIERS = cast("Any", None)


def caller(name: str) -> Metadata:
    """The metadata of a caller."""
    return (("authorization", f"Bearer {name}-key"),)


ALICE, ANNA, BOB = caller("alice"), caller("anna"), caller("bob")


class WordVectors:
    """An embedder whose vectors are similar if texts share words."""

    def __init__(self, model: str = "words") -> None:
        self.model = model
        self.dimension = DIMENSION
        self.is_away = False

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One row for each text."""
        if self.is_away:
            raise EmbedderUnavailableError
        rows = np.full((len(texts), DIMENSION), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().replace(".", " ").replace("?", " ").split():
                row[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSION] += 1.0
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        scaled: Matrix = (rows / np.maximum(lengths, 1e-9)).astype(np.float32)
        return scaled

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Embeds queries like texts."""
        return await self.embed(queries)

    async def close(self) -> None:
        """Does nothing."""


@dataclass
class World:
    """The service and the objects behind it that tests inspect."""

    stub: entity_memory_pb2_grpc.EntityMemoryServiceStub
    parts: EntityMemoryParts
    pool: Pool
    embedder: WordVectors
    database: TestDatabase
    port: int

    async def save_entity(
        self, name: str, type_: str = "TOOL", *, who: Metadata = ALICE, **given: object
    ) -> pb.SaveEntityResponse:
        """Saves an entity for a caller."""
        request = pb.SaveEntityRequest(
            name=name,
            type=pb.MemoryEntityType.Value(f"MEMORY_ENTITY_TYPE_{type_}"),
            **given,  # type: ignore[arg-type]
        )
        return await self.stub.SaveEntity(request, metadata=who)

    async def relate(
        self,
        type_: str,
        target: str,
        source: str = "",
        *,
        who: Metadata = ALICE,
        **given: object,
    ) -> pb.SaveRelationshipResponse:
        """Saves a relationship by names; the source defaults to the user."""
        request = pb.SaveRelationshipRequest(
            type=pb.MemoryRelationshipType.Value(f"MEMORY_RELATIONSHIP_TYPE_{type_}"),
            source=pb.MemoryEndInput(name=source),
            target=pb.MemoryEndInput(name=target, type=pb.MEMORY_ENTITY_TYPE_TOOL),
            **given,  # type: ignore[arg-type]
        )
        return await self.stub.SaveRelationship(request, metadata=who)

    async def names(self, query: str = "", *, who: Metadata = ALICE) -> list[str]:
        """Names of the entities that a query finds."""
        request = pb.QueryEntitiesRequest(query=query, page_size=200)
        answer = await self.stub.QueryEntities(request, metadata=who)
        return [hit.entity.name for hit in answer.hits]

    async def answers(self, query: str, *, who: Metadata = ALICE) -> list[str]:
        """The names that answer a question."""
        request = pb.AnswerRelationshipQueryRequest(query=query)
        answer = await self.stub.AnswerRelationshipQuery(request, metadata=who)
        return [one.answer for one in answer.answers]


def write_keys(path: Path) -> None:
    """Writes the keys of Alice and Anna, who share a space, and of Bob, who has another one."""
    spaces = {"alice": "acme", "anna": "acme", "bob": "globex"}
    keys: list[dict[str, object]] = [
        {
            "id": name,
            "hash": hash_key(f"{name}-key"),
            "space": space,
            "user": name,
            "scopes": ["read", "write"],
        }
        for name, space in spaces.items()
    ]
    keys.append(
        {
            "id": "gateway",
            "hash": hash_key("gateway-key"),
            "scopes": ["read", "write", "delegate"],
        }
    )
    path.write_text(json.dumps({"keys": keys}))


@pytest.fixture
def memory_settings() -> EntityMemorySettings:
    """Settings that a test module overrides."""
    return EntityMemorySettings.model_construct()


@pytest.fixture
async def world(
    tmp_path: Path, agent_database: TestDatabase, memory_settings: EntityMemorySettings
) -> AsyncIterator[World]:
    """The running service."""
    keys = tmp_path / "keys.json"
    write_keys(keys)
    runtime = RuntimeSettings(api_keys_file=keys, drain_seconds=0)
    embedder = WordVectors()

    async def recorded() -> Recorded:
        return Recorded(embedder.model, DIMENSION)

    pool = await Pool.open(agent_database.dsn("braid_agent"), PoolLimits(8), application="test")
    async with open_entity_memory(
        memory_settings, pool=pool, recorded=recorded, queries=embedder, documents=embedder
    ) as parts:
        service = Service(
            ENTITY_MEMORY_SERVICE,
            lambda server: entity_memory_pb2_grpc.add_EntityMemoryServiceServicer_to_server(
                parts.servicer, server
            ),
        )
        server = await start_server(
            settings=runtime, listen="127.0.0.1:0", services=[service], probes={}
        )
        channel = open_channel(f"127.0.0.1:{server.port}", retry=False)
        stub = entity_memory_pb2_grpc.EntityMemoryServiceStub(channel)
        try:
            yield World(stub, parts, pool, embedder, agent_database, server.port)
        finally:
            await channel.close()
            await server.stop()
            await pool.close()


async def no_messages(_owner: object, _words: str | None) -> int:
    """There are no conversations with messages to forget."""
    return 0


def run_of(
    user: str = "alice",
    call: str = "call-1",
    run: str = "run-1",
    space: str = "acme",
    *,
    said: str = "",
    read: Sequence[str] = (),
    may_save: bool = True,
) -> Any:
    """The context of a tool call for a message that the user `said`, after the results of the tools in `read`."""
    returned = [ToolReturnPart(tool, "…", tool_call_id=f"read-{tool}") for tool in read]
    deps = AgentDependencies(
        session_id="c1",
        user_id=user,
        space=space,
        question=said,
        may_save=may_save,
        now=datetime.now(UTC),
        zone=ZoneInfo("UTC"),
        search=NO_TIERS,
        hybrid=NO_TIERS,
        tiers=NO_TIERS,
        planner=NO_TIERS,
        run_id=run,
        conversation_id="c1",
    )
    return RunContext(
        deps=deps,
        model=TestModel(),
        usage=RunUsage(),
        tool_call_id=call,
        messages=[ModelRequest(parts=[UserPromptPart(said)]), ModelRequest(parts=returned)],
    )


@pytest.fixture
async def http(world: World, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A gateway in front of the service; both use the same keys."""
    target = f"{LOOPBACK}:{world.port}"
    settings = GatewaySettings(
        _env_file=None,
        gateway_listen=f"{LOOPBACK}:0",
        log_level="error",
        drain_seconds=1,
        api_keys_file=tmp_path / "keys.json",
        service_key=SecretStr("gateway-key"),
        agent_target=target,
        vector_target=target,
        graph_target=target,
        allow_local=False,
    )
    async with serve_gateway(settings, Script()) as served:
        yield served.http
