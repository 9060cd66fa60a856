"""A gateway over the real graph tier and Neo4j, with some facts of a company in a space that no other test uses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from braid.graph.v1 import ingest_pb2, ingest_pb2_grpc
from deploy.local.stores import LocalStores
from services.graph_query.app import build_services
from services.runtime.channels import open_channel
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.scripted import LOOPBACK, Script
from tests.integration.graph_query.messages import fact, stamp
from tests.store_suite.graph.builders import new_space
from tests.store_suite.graph.neo4j_graph import opened
from tests.unit.graph_query.embedder import CountingEmbedder

# A busy machine may take long to plan a query for the first time.
SECONDS = 60
OURS, THEIRS, READER = "our-key", "their-key", "reading-key"


@dataclass(frozen=True)
class Company:
    """A gateway, and the address of the graph tier behind it."""

    served: Served
    target: str

    async def get(self, path: str, key: str = OURS, **parameters: Any) -> Any:
        """Returns the response to a read."""
        response = await self.served.http.get(
            path, params=parameters, headers=bearer(key), timeout=SECONDS
        )
        assert response.status_code == 200, response.text
        return response.json()

    async def send(
        self, method: str, path: str, body: Any, *, status: int = 200, key: str = OURS
    ) -> Any:
        """Returns the response to a write."""
        response = await self.served.http.request(
            method, path, json=body, headers=bearer(key), timeout=SECONDS
        )
        assert response.status_code == status, response.text
        return response.json()


def bearer(key: str) -> dict[str, str]:
    """Returns the header with a key."""
    return {"authorization": f"Bearer {key}"}


def facts() -> list[ingest_pb2.FactInput]:
    """Returns successive owners of a service, facts that never changed, and two entities with one name."""
    rows: Sequence[tuple[str, str, str, str | None, str | None]] = (
        ("Anna Bell", "OWNS", "Payments", "2018-01-01", "2020-01-01"),
        ("Karl Otto", "OWNS", "Payments", "2020-01-01", "2022-06-01"),
        ("Mira Okafor", "OWNS", "Payments", "2022-06-01", None),
        ("Payments", "DEPENDS_ON", "Ledger", "2019-03-01", None),
        ("Ledger", "USES", "PostgreSQL", "2017-05-01", None),
        ("Mira Okafor", "LIVES_IN", "Graz", "2021-01-01", None),
    )
    given = [_dated(*one) for one in rows]
    for kind in ("Bird", "Plane"):
        given.append(fact("Swift", "HAS", "Wings", subject_type=kind))
    return given


def _dated(
    subject: str, relation: str, target: str, since: str | None, until: str | None
) -> ingest_pb2.FactInput:
    dates: dict[str, Any] = {}
    if since:
        dates["valid_time"] = stamp(since)
    if until:
        dates["invalid_time"] = stamp(until)
    return fact(subject, relation, target, **dates)


@asynccontextmanager
async def served_company(
    stores: LocalStores, settings_of: Any, script: Script, folder: Path
) -> AsyncIterator[Company]:
    """Serves the gateway and the tier within a block, with keys of two spaces in a file in `folder`."""
    keys = folder / "keys.json"
    keys.write_text(json.dumps({"keys": _keys()}))
    async with opened(stores) as store:
        server = await start_server(
            settings=RuntimeSettings(api_keys_file=keys, drain_seconds=0),
            listen=f"{LOOPBACK}:0",
            services=build_services(store, CountingEmbedder()),
            probes={},
        )
        target = f"{LOOPBACK}:{server.port}"
        try:
            await _load(target)
            settings = await settings_of(keys=keys, allow_local=False, timeout_seconds=SECONDS)
            over_the_tier = settings.model_copy(update={"graph_target": target})
            async with serve_gateway(over_the_tier, script) as running:
                yield Company(running, target)
        finally:
            await server.stop()


async def _load(target: str) -> None:
    channel = open_channel(target, retry=False)
    try:
        stub = ingest_pb2_grpc.GraphIngestServiceStub(channel)
        metadata = tuple(bearer(OURS).items())
        messages = iter([ingest_pb2.AddFactsRequest(facts=facts())])
        answer = await stub.AddFacts(messages, metadata=metadata, timeout=SECONDS)
        assert answer.added_count == len(facts())
    finally:
        await channel.close()


def _keys() -> list[dict[str, Any]]:
    space = new_space()
    records: dict[str, dict[str, Any]] = {
        "gateway": {"space": None, "scopes": ["read", "write", "admin", "delegate"]},
        OURS: {"space": space, "scopes": ["read", "write"]},
        READER: {"space": space, "scopes": ["read"]},
        THEIRS: {"space": new_space(), "scopes": ["read", "write"]},
    }
    return [
        {"id": name, "hash": f"sha256:{hashlib.sha256(name.encode()).hexdigest()}", **record}
        for name, record in records.items()
    ]
