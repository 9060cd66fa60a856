"""`braid mcp` as an assistant starts it, with the SDK's client on its standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from braid.common.v1 import legs_pb2
from braid.vector.v1 import search_pb2
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.mcp.clients import Era, failure_of, value_of
from tests.integration.gateway.samples import CHUNK_HIT

FOUND = search_pb2.HybridSearchResponse(
    hits=[CHUNK_HIT], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
)
QUERY = {"query": "who caused INC-104?", "mode": "hybrid"}


def started(url: str, key: str = "", *options: str) -> StdioServerParameters:
    """Returns the command as in an assistant's configuration."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "gateway.cli", "mcp", *options],
        env={"BRAID_URL": url, "BRAID_API_KEY": key, "PATH": os.environ["PATH"]},
    )


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_each_key_reads_its_own_space(guarded: Served, era: Era) -> None:
    guarded.script.answer("HybridSearch", FOUND)
    for key, space in (("reader", "team-a"), ("writer", "team-b")):
        async with Client(stdio_client(started(guarded.url, key)), mode=era) as client:
            found = value_of(await client.call_tool("search", QUERY))
            refused = failure_of(await client.call_tool("search", {"query": "x", "limit": 0}))
        assert found["space"] == space
        assert refused.startswith("limit: must be at least 1")
        assert guarded.script.seen[-1].call.space == space


async def test_options_select_the_profile_and_read_only_mode(guarded: Served) -> None:
    parameters = started(guarded.url, "writer", "--profile", "all", "--read-only")
    async with Client(stdio_client(parameters)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert "neighborhood" in names
    assert "ingest_text" not in names


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_canceled_request_cancels_the_rpc_behind_it(served: Served, era: Era) -> None:
    served.script.hang("HybridSearch")
    async with Client(stdio_client(started(served.url)), mode=era) as client:
        asking = asyncio.create_task(client.call_tool("search", QUERY))
        await served.script.reached.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        async with asyncio.timeout(10):
            await served.script.cancelled.wait()


async def test_an_unknown_key_is_reported_with_the_gateways_message(guarded: Served) -> None:
    refused = pytest.RaisesExc(MCPError, match="A valid API key or token is needed")
    with pytest.RaisesGroup(refused, flatten_subgroups=True):
        async with Client(stdio_client(started(guarded.url, "nobody"))):
            pass


async def test_without_a_gateway_the_command_exits_and_reports_it(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "BRAID_DATA": str(tmp_path), "PATH": os.environ["PATH"]}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway.cli",
        "mcp",
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error_output = await process.communicate()
    assert process.returncode == 5
    assert out == b""
    assert b"no running stack found" in error_output


@pytest.mark.parametrize("asks", [False, True])
async def test_the_command_ends_with_its_client(served: Served, asks: bool) -> None:
    parameters = started(served.url)
    process = await asyncio.create_subprocess_exec(
        *(parameters.command, *parameters.args),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=parameters.env,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    async with asyncio.timeout(30):
        if asks:
            process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            assert b'"id":1' in await process.stdout.readline()
        process.stdin.close()
        assert await process.wait() == 0
