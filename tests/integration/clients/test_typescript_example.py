"""The TypeScript example, generated from the contracts, compiled, and run against a scripted orchestrator."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration

from braid.agent.v1.search_pb2 import ComprehensiveSearchResponse, SearchResult
from braid.common.v1 import legs_pb2
from services.runtime.errors import OverloadedError
from services.runtime.security.api_keys import KeyFile, KeyRecord, hash_key
from services.runtime.server import RunningServer
from tests.integration.clients.conftest import Ended, run
from tests.integration.gateway.scripted import AGENT, LOOPBACK, Script, start_scripted

RPC = "ComprehensiveSearch"
ANSWER = ComprehensiveSearchResponse(
    results=[
        SearchResult(title="Ledger Service", source="wiki/ledger.md", score=0.75),
        SearchResult(title="INC-104", source="incidents/104.md", score=0.5),
    ],
    legs=[
        legs_pb2.LegReport(
            leg=legs_pb2.LEG_VECTOR,
            status=legs_pb2.LEG_STATUS_OK,
            elapsed=Duration(nanos=12_000_000),
        ),
        legs_pb2.LegReport(
            leg=legs_pb2.LEG_GRAPH,
            status=legs_pb2.LEG_STATUS_UNAVAILABLE,
            reason=legs_pb2.LEG_REASON_STORE_UNAVAILABLE,
            elapsed=Duration(nanos=3_000_000),
        ),
    ],
)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def server(script: Script) -> AsyncIterator[RunningServer]:
    running = await start_scripted(AGENT, script)
    yield running
    await running.stop()


async def ask(example: Path, port: int, question: str, **environment: str) -> Ended:
    command = ("npm", "--silent", "start", "--", question)
    target = f"{LOOPBACK}:{port}"
    return await asyncio.to_thread(run, example, *command, BRAID_TARGET=target, **environment)


async def test_it_prints_the_results_and_the_status_of_each_leg(
    example: Path, server: RunningServer, script: Script
) -> None:
    script.answer(RPC, ANSWER)
    ended = await ask(example, server.port, "who owns it?")
    assert ended.out.splitlines() == [
        "0.750  Ledger Service  (wiki/ledger.md)",
        "0.500  INC-104  (incidents/104.md)",
        "vector: OK in 12 ms",
        "graph: UNAVAILABLE in 3 ms (STORE_UNAVAILABLE)",
    ]
    assert ended.code == 0


async def test_it_sends_its_request_with_a_deadline(
    example: Path, server: RunningServer, script: Script
) -> None:
    script.answer(RPC, ANSWER)
    await ask(example, server.port, "who owns it?")
    [seen] = script.seen
    assert (seen.message.query, seen.message.limit) == ("who owns it?", 3)
    assert 0 < seen.time_left <= 5


async def test_an_invalid_field_is_printed_with_the_reason_and_the_request_id(
    example: Path, server: RunningServer, script: Script
) -> None:
    ended = await ask(example, server.port, " ")
    code, reason, field = ended.err.splitlines()
    assert code.startswith("InvalidArgument: ")
    assert re.fullmatch(r"reason: INVALID_FIELD, request: (?!unknown)\S+", reason)
    assert field == "field query: must not be blank"
    assert (ended.code, ended.out, script.seen) == (1, "", [])


async def test_an_overloaded_service_is_reported_with_its_retry_delay(
    example: Path, server: RunningServer, script: Script
) -> None:
    script.fail(RPC, OverloadedError(retry_after=0.5))
    ended = await ask(example, server.port, "who owns it?")
    _, reason, delay = ended.err.splitlines()
    assert reason.startswith("reason: OVERLOADED, ")
    assert delay == "try again in 500 ms"


async def test_the_api_key_identifies_the_user(
    example: Path, script: Script, tmp_path: Path
) -> None:
    script.answer(RPC, ANSWER)
    running = await start_scripted(AGENT, script, api_keys_file=keys_file(tmp_path))
    try:
        known = await ask(example, running.port, "who?", BRAID_API_KEY="known")
        unknown = await ask(example, running.port, "who?", BRAID_API_KEY="unknown")
    finally:
        await running.stop()
    assert known.code == 0
    assert [seen.call.user for seen in script.seen] == ["ann"]
    assert "reason: INVALID_CREDENTIAL" in unknown.err


def keys_file(folder: Path) -> Path:
    """A key file with the key `known` of a user with read access."""
    scopes = frozenset({"read"})
    record = KeyRecord(id="ann", hash=hash_key("known"), space="team-a", user="ann", scopes=scopes)
    path = folder / "keys.json"
    path.write_text(KeyFile(keys=[record]).model_dump_json())
    return path
