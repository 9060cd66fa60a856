"""Compares searches of the vector tier with and without a streaming replica, during writes to the primary."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path

import grpc

from braid.vector.v1 import documents_pb2_grpc, search_pb2, search_pb2_grpc
from services.runtime.channels import open_channel
from tests.benchmarks.callers import Sample, load
from tests.benchmarks.command import Options
from tests.benchmarks.credentials import LOCAL_SPACE
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import generated, new_queries
from tests.benchmarks.harness import running_stack, temporary_data
from tests.benchmarks.loading import Passage, store, upsert_request
from tests.benchmarks.side_process import side_process
from tests.standby import Standby

_PASSAGES = 2_000
_CALLERS = 8
_ROUNDS = 4
_QUERIES = 400
_WARM_UP = 200
_WRITE_SECONDS = 0.05
_DEADLINE = 60.0
_WRITTEN = 300


async def run(options: Options) -> None:
    """Compares two vector tiers over the same data, one with the replica, by alternating blocks of searches."""
    figures = Figures(options.name)
    data = generated(_PASSAGES)
    passages = [Passage(one.id, one.title, one.text) for one in data.documents]
    queries = new_queries(data, options.seed)
    async with running_stack(only=["vector_search"]) as stack:
        await store(stack, passages)
        with temporary_data() as folder:
            standby = Standby(stack.stores.postgres, _reachable(folder))
            await standby.start()
            note("the replica streams")
            urls = (stack.stores.postgres.dsn("braid_reader"), standby.dsn("braid_reader"))
            replicas = {"BRAID_VECTOR_REPLICA_DATABASE_URLS": ",".join(urls)}
            try:
                async with (
                    side_process(stack, "vector_search", {}) as one,
                    side_process(stack, "vector_search", replicas) as two,
                    _channel(one) as one_store,
                    _channel(two) as two_stores,
                ):
                    await _measure(one_store, two_stores, queries, figures)
            finally:
                await standby.stop()


def _reachable(folder: Path) -> Path:
    """Creates the folder so that PostgreSQL's user can traverse it."""
    folder.mkdir(parents=True)
    for each in (folder, folder.parent):
        each.chmod(0o711)
    return folder


@contextlib.asynccontextmanager
async def _channel(address: str) -> AsyncIterator[grpc.aio.Channel]:
    channel = open_channel(address, retry=False)
    try:
        yield channel
    finally:
        await channel.close()


async def _measure(
    one: grpc.aio.Channel, two: grpc.aio.Channel, queries: Iterator[str], figures: Figures
) -> None:
    doors = {"one_store": _searcher(one), "two_stores": _searcher(two)}
    samples = {name: Sample() for name in doors}
    for door in doors.values():
        await load(1, islice(queries, _WARM_UP), door)  # loads the model and plans the statements
    async with _writing(one):
        for _ in range(_ROUNDS):
            for name, door in doors.items():
                found = await load(_CALLERS, islice(queries, _QUERIES), door)
                samples[name].times_ms += found.times_ms
                samples[name].wall_s += found.wall_s
    for name, sample in samples.items():
        figures.put(f"qps_{name}", sample.rate, "queries/s")
        figures.put(f"p50_ms.{name}", sample.percentile(50), "ms")
    figures.put("stale_reads", await _stale_reads(one, two), f"of {_WRITTEN}")


def _searcher(channel: grpc.aio.Channel):  # type: ignore[no-untyped-def]
    stub = search_pb2_grpc.VectorSearchServiceStub(channel)

    async def search(query: str) -> search_pb2.HybridSearchResponse:
        return await stub.HybridSearch(
            search_pb2.HybridSearchRequest(query=query), timeout=_DEADLINE
        )

    return search


@contextlib.asynccontextmanager
async def _writing(channel: grpc.aio.Channel) -> AsyncIterator[None]:
    """Writes documents regularly to the searched space while the block runs."""
    stub = documents_pb2_grpc.DocumentServiceStub(channel)

    async def write() -> None:
        for number in itertools.count():
            text = f"Ledger {number} was closed in the harbour."
            passage = Passage(f"written{number % 100}", "Ledger", text)
            await stub.BatchUpsertDocuments(
                upsert_request([passage], "", LOCAL_SPACE), timeout=_DEADLINE
            )
            await asyncio.sleep(_WRITE_SECONDS)

    writing = asyncio.create_task(write())
    try:
        yield
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


async def _stale_reads(one: grpc.aio.Channel, two: grpc.aio.Channel) -> int:
    """Returns how many searches through the other process miss a document written just before."""
    documents = documents_pb2_grpc.DocumentServiceStub(one)
    search = search_pb2_grpc.VectorSearchServiceStub(two)
    stale = 0
    for number in range(_WRITTEN):
        word = f"freshword{number}"
        passage = Passage(f"fresh{number}", "", word)
        await documents.BatchUpsertDocuments(
            upsert_request([passage], "", LOCAL_SPACE), timeout=_DEADLINE
        )
        request = search_pb2.TextSearchRequest(query=word, limit=1)
        answer = await search.TextSearch(request, timeout=_DEADLINE)
        stale += not any(hit.chunk.document_id == passage.id for hit in answer.hits)
    return stale
