"""Measures the overhead of a search through MCP compared with REST, and failures with twenty concurrent clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.corpus import corpus_of
from tests.benchmarks.figures import Figures
from tests.benchmarks.generated import new_queries
from tests.benchmarks.harness import bar, running_stack
from tests.evals.ingestion import ingest
from tests.evals.metrics import percentile

SHARED = "multihop/hotpot_train100"
_PAIRS = 300
_WARM_UP = 100
_CLIENTS = 20
_CALLS = 20
_LIMIT = 10
_FOUND = ("found", "no_match")


async def run(options: Options) -> None:
    """Searches alternately through REST and MCP, with a new text each time, then with twenty concurrent clients."""
    data = corpus_of(options)
    figures = Figures(options.name)
    queries = new_queries(data, options.seed)
    count = options.queries or _PAIRS
    async with running_stack() as stack:
        await ingest(stack, data.documents)
        url = f"http://{stack.addresses['gateway']}"
        async with httpx2.AsyncClient(base_url=url, timeout=30) as http, _client(url) as client:
            await _compare(http, client, queries, _WARM_UP, "warming up")
            rest, mcp = await _compare(http, client, queries, count, "MCP and REST in turn")
        figures.put("overhead_p50_ms", percentile(mcp, 50) - percentile(rest, 50), "ms")
        figures.put("rest_p50_ms", percentile(rest, 50), "ms")
        figures.put("mcp_p50_ms", percentile(mcp, 50), "ms")
        figures.put("mcp_p95_ms", percentile(mcp, 95), "ms")
        failed = await asyncio.gather(
            *(_session(url, list(islice(queries, _CALLS))) for _ in range(_CLIENTS))
        )
        figures.put("failed", sum(failed), "calls")


@asynccontextmanager
async def _client(url: str) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(timeout=60) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


async def _compare(
    http: httpx2.AsyncClient, client: Client, queries: Iterator[str], count: int, about: str
) -> tuple[list[float], list[float]]:
    """Returns the milliseconds of each search through REST and through MCP, each with a different text."""
    rest, mcp = [], []
    with bar(about, count) as show:
        for number in range(count):
            began = time.perf_counter()
            await _rest(http, next(queries))
            between = time.perf_counter()
            status = await _mcp(client, next(queries))
            ended = time.perf_counter()
            if status not in _FOUND:
                raise MeasureError(f"a search through MCP ended with {status}")
            rest.append(1000 * (between - began))
            mcp.append(1000 * (ended - between))
            show(number + 1)
    return rest, mcp


async def _rest(http: httpx2.AsyncClient, text: str) -> None:
    answer = await http.post("/api/search/hybrid", json={"query": text, "limit": _LIMIT})
    if answer.status_code != httpx2.codes.OK:
        raise MeasureError(f"REST: {answer.status_code} {answer.text[:300]}")
    answer.json()


async def _mcp(client: Client, text: str) -> str:
    arguments: dict[str, Any] = {"query": text, "mode": "hybrid", "limit": _LIMIT}
    result = await client.call_tool("search", arguments)
    if result.is_error or not isinstance(result.structured_content, dict):
        return f"an error: {result.content}"
    return str(result.structured_content["status"])


async def _session(url: str, texts: list[str]) -> int:
    """Returns how many of a client's searches failed; all of them if it could not connect."""
    failed = len(texts)
    try:
        async with _client(url) as client:
            for text in texts:
                failed -= await _mcp(client, text) in _FOUND
    except Exception as error:  # noqa: BLE001 - any error means that the searches failed
        print(f"a client failed: {error!r}")
    return failed
