"""Measures two replicas of each service: the distribution of calls, and failures during a rolling restart."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import grpc
import httpx2

from braid.agent.v1 import search_pb2, search_pb2_grpc
from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from deploy.local.stack import LocalStack
from services.runtime.channels import open_channel
from tests.benchmarks.callers import Sample
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import generated, new_queries
from tests.benchmarks.harness import running_stack
from tests.benchmarks.legs import describe, has_searched, reports_of
from tests.evals.ingestion import ingest

_PASSAGES = 400
_WARM_UP = 100
_REPLICAS = 2
_SHARE_SECONDS = 15.0
_GRPC_CALLERS, _HTTP_CALLERS, _WRITERS = 4, 2, 1
_DEADLINE = 10.0
_POLL_SECONDS = 0.1
# The same as `minReadySeconds` in deploy/kubernetes; within this time all clients find a new replica.
_MIN_READY_SECONDS = 5.0
_SERVICES = ("vector_search", "graph_query", "agent_orchestrator", "gateway")
_OTHERS = ("agent_worker",)
_SEARCHED = ("OK", "NO_MATCH")

Call = Callable[[], Awaitable[None]]


class _FailedError(Exception):
    """A call failed or its response was incomplete."""


@dataclass(slots=True)
class _Load:
    """The outcomes of calls."""

    answered: Sample = field(default_factory=Sample)
    failed: Counter[str] = field(default_factory=Counter)

    async def keep_calling(self, call: Call, stopped: asyncio.Event) -> None:
        """Makes one call after another until `stopped` is set."""
        while not stopped.is_set():
            began = time.perf_counter()
            try:
                await call()
            except grpc.aio.AioRpcError as error:
                self.failed[f"gRPC {error.code().name}: {error.details()}"] += 1
            except (_FailedError, httpx2.HTTPError) as error:
                self.failed[f"{type(error).__name__}: {error}"] += 1
            else:
                self.answered.times_ms.append((time.perf_counter() - began) * 1000)


async def run(options: Options) -> None:
    """Loads all replicas, first without faults, then while each process in turn is stopped and started."""
    figures = Figures(options.name)
    data = generated(_PASSAGES)
    queries = new_queries(data, options.seed)
    environment = {"BRAID_LOG_LEVEL": "info"}
    async with running_stack(environment=environment, replicas=_REPLICAS) as stack:
        await ingest(stack, data.documents)
        async with _callers(stack, queries) as calls:
            for call in islice(itertools.cycle(calls), _WARM_UP):
                await call()
            await _measure_shares(stack, calls, figures)
            await _measure_restarts(stack, calls, figures)


async def _measure_shares(stack: LocalStack, calls: list[Call], figures: Figures) -> None:
    before = _served(stack)
    async with _loaded(calls) as load:
        await asyncio.sleep(_SHARE_SECONDS)
    if load.failed:
        raise MeasureError(f"calls failed without any restart: {load.failed}")
    after = _served(stack)
    shares = {}
    for service in _SERVICES:
        served = [after[name] - before[name] for name in _replicas(service)]
        note(f"{service}: {' and '.join(map(str, served))} calls")
        shares[service] = 100 * max(served) / sum(served)
        figures.put(f"share_of_busier_pct.{service}", shares[service], "percent")
    figures.put("share_of_busier_pct", max(shares.values()), "percent")


async def _measure_restarts(stack: LocalStack, calls: list[Call], figures: Figures) -> None:
    names = [name for service in _SERVICES for name in _replicas(service)]
    began = time.perf_counter()
    async with _loaded(calls) as load:
        for name in (*names, *_OTHERS):
            await stack.stop_process(name)
            before = _logged(_log(stack, name))
            await stack.start_process(name)
            await asyncio.sleep(_MIN_READY_SECONDS)
            if name in names and _logged(_log(stack, name)) == before:
                raise MeasureError(f"{name} was not called in {_MIN_READY_SECONDS:.0f} s")
            note(f"{name} restarted after {time.perf_counter() - began:.1f} s")
    for ended, times in load.failed.most_common():
        note(f"{times} times {ended}")
    figures.put("restarted", len(names) + len(_OTHERS), "processes")
    figures.put("calls", len(load.answered.times_ms) + load.failed.total(), "calls")
    figures.put("p95_ms", load.answered.percentile(95), "ms")
    figures.put("failed", load.failed.total(), "calls")


@asynccontextmanager
async def _loaded(calls: list[Call]) -> AsyncIterator[_Load]:
    """Runs all callers for the duration of a block."""
    load, stopped = _Load(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(load.keep_calling(call, stopped))
        try:
            yield load
        finally:
            stopped.set()


@asynccontextmanager
async def _callers(stack: LocalStack, queries: Iterator[str]) -> AsyncIterator[list[Call]]:
    """Yields searches over gRPC and HTTP, and writes, which are all distributed over the replicas."""

    async def search() -> None:
        request = search_pb2.ComprehensiveSearchRequest(query=next(queries))
        answer = await searches.ComprehensiveSearch(request, timeout=_DEADLINE)
        reports = reports_of(answer)
        if not all(has_searched(reports, name) for name in reports):
            raise _FailedError(describe(reports))

    async def write() -> None:
        number = next(numbers)
        text = f"Note {number} says nothing of interest."
        document = documents_pb2.DocumentInput(
            document_id=f"w{number}", content_hash=hashlib.sha256(text.encode()).hexdigest()
        )
        document.chunks.add(id=str(uuid.UUID(int=number + 1)), content=text)
        request = documents_pb2.UpsertDocumentRequest(document=document)
        await documents.UpsertDocument(request, timeout=_DEADLINE)

    numbers = itertools.count()
    async with (
        open_channel(_target(stack, "agent_orchestrator")) as orchestrators,
        open_channel(_target(stack, "vector_search")) as vector_tiers,
        _Gateways(stack) as gateways,
    ):
        searches = search_pb2_grpc.SearchServiceStub(orchestrators)
        documents = documents_pb2_grpc.DocumentServiceStub(vector_tiers)
        yield [
            *[search] * _GRPC_CALLERS,
            *[lambda: gateways.search(next(queries))] * _HTTP_CALLERS,
            *[write] * _WRITERS,
        ]


class _Gateways:
    """A load balancer that uses the gateways in turn, skipping those whose readiness probe fails."""

    def __init__(self, stack: LocalStack) -> None:
        self._urls = [f"http://{stack.addresses[name]}" for name in _replicas("gateway")]
        self._ready = set(self._urls)
        self._turns = itertools.cycle(self._urls)
        self._http = httpx2.AsyncClient(timeout=_DEADLINE, verify=False)
        self._polling: asyncio.Task[None] | None = None

    async def __aenter__(self) -> _Gateways:
        self._polling = asyncio.create_task(self._poll())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)
        await self._http.aclose()

    async def search(self, text: str) -> None:
        """Asks the next gateway, or another one if it cannot connect."""
        body = {"query": text}
        for _ in self._urls:
            url = next(turn for turn in self._turns if turn in self._ready or not self._ready)
            try:
                response = await self._http.post(f"{url}/api/search/comprehensive", json=body)
            except httpx2.ConnectError:
                continue
            if response.status_code != httpx2.codes.OK:
                raise _FailedError(f"HTTP {response.status_code}: {response.text[:200]}")
            legs = response.json()["legs"]
            if bad := [leg for leg in legs if leg["status"] not in _SEARCHED]:
                raise _FailedError(f"a leg: {bad}")
            return
        raise _FailedError("no gateway can be connected to")

    async def _poll(self) -> None:
        while True:
            await asyncio.gather(*map(self._probe, self._urls))
            await asyncio.sleep(_POLL_SECONDS)

    async def _probe(self, url: str) -> None:
        try:
            response = await self._http.get(f"{url}/readyz", timeout=2.0)
            ready = response.is_success and response.json()["status"] == "ready"
        except httpx2.HTTPError:
            ready = False
        (self._ready.add if ready else self._ready.discard)(url)


def _replicas(service: str) -> list[str]:
    return [service, *(f"{service}_{place}" for place in range(2, _REPLICAS + 1))]


def _target(stack: LocalStack, service: str) -> str:
    return "ipv4:" + ",".join(stack.addresses[name] for name in _replicas(service))


def _served(stack: LocalStack) -> Counter[str]:
    """Returns how many calls or API requests each process has logged."""
    served: Counter[str] = Counter()
    for name in (name for service in _SERVICES for name in _replicas(service)):
        served[name] = _logged(_log(stack, name))
    return served


def _log(stack: LocalStack, name: str) -> Path:
    return stack.data / "logs" / f"{name}.log"


def _logged(log: Path) -> int:
    found = 0
    for line in log.read_text().splitlines():
        if not line.startswith("{"):
            continue
        entry = json.loads(line)
        found += entry.get("event") == "call"
        found += entry.get("event") == "request" and str(entry.get("route")).startswith("/api/")
    return found
