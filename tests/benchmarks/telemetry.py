"""Measures the overhead of traces and metrics for a hybrid search over HTTP, with default sampling and a collector."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from itertools import islice

from deploy.local.stack import LocalStack
from tests.benchmarks.callers import compare
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures
from tests.benchmarks.generated import generated, new_queries
from tests.benchmarks.harness import running_stack
from tests.benchmarks.loading import Passage, store
from tests.benchmarks.processes import started
from tests.benchmarks.side_process import side_process
from tests.benchmarks.web import WebClient

_QUERIES = 1_500
_WARM_UP = 150
_LIMIT = 10

SearchCall = Callable[[str], Awaitable[object]]


async def run(options: Options) -> None:
    """Compares two pairs of gateway and vector tier over the same data, one with traces and metrics."""
    figures = Figures(options.name)
    data = generated()
    queries = new_queries(data, options.seed)
    passages = [Passage(one.id, one.title, one.text) for one in data.documents]
    async with (
        running_stack(only=["vector_search"]) as stack,
        started("tests.benchmarks.otlp_sink") as (_, endpoint),
    ):
        await store(stack, passages)
        exported = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "BRAID_METRICS_LISTEN": "127.0.0.1:0",
        }
        async with (
            _search_through(stack, {}) as without,
            _search_through(stack, exported) as with_telemetry,
        ):
            searches = {"without": without, "with": with_telemetry}
            await compare(searches, islice(queries, _WARM_UP))
            samples = await compare(searches, islice(queries, options.queries or _QUERIES))
    p50 = {name: sample.percentile(50) for name, sample in samples.items()}
    figures.put("p50_ms.without", p50["without"], "ms")
    figures.put("p50_ms.with", p50["with"], "ms")
    figures.put("p95_ms.without", samples["without"].percentile(95), "ms")
    figures.put("p95_ms.with", samples["with"].percentile(95), "ms")
    figures.put("p50_cost_pct", 100 * (p50["with"] / p50["without"] - 1), "percent")


@contextlib.asynccontextmanager
async def _search_through(
    stack: LocalStack, settings: Mapping[str, str]
) -> AsyncIterator[SearchCall]:
    """Yields a hybrid search through a gateway and a vector tier with these settings."""
    async with side_process(stack, "vector_search", settings) as tier:
        more = {**settings, "BRAID_VECTOR_TARGET": tier}
        async with side_process(stack, "gateway", more) as gateway:
            client = await asyncio.to_thread(WebClient, gateway)

            async def search(query: str) -> object:
                # Blocks the loop, as it is the only caller; a thread would cost more than the measured difference.
                return client.post("/api/search/hybrid", {"query": query, "limit": _LIMIT})

            with client:
                yield search
