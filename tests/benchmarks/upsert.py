"""Compares writing documents with the embedder alone, and, with given vectors, with direct inserts through asyncpg."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from braid.vector.v1 import documents_pb2_grpc
from deploy.local.stack import LocalStack
from services.models.embedding.embedder import Embedder
from tests.benchmarks.command import Options
from tests.benchmarks.credentials import credential
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import generated
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.benchmarks.loading import Passage, batches, upsert_request
from tests.benchmarks.reference import reference
from tests.benchmarks.sentences import MODEL, embedded, sentences
from tests.benchmarks.wait_for_index import settled, waiting
from tests.benchmarks.writing import DirectWriter
from tests.evals.datasets import read_multihop
from tests.evals.embedding import local_embedder

_EMBEDDED = 4_000
_GIVEN = 12_000
# Rounds take some seconds, so that their start and end, where some writers are idle, hardly affect the rate.
_EMBEDDED_ROUND = 1_000
_GIVEN_ROUND = 500
_BATCH = 100
_WRITERS = 4
_DEADLINE = 300.0

Write = Callable[[Sequence[Passage]], Awaitable[object]]


async def run(options: Options) -> None:
    """Runs both comparisons with alternating rounds."""
    figures = Figures(options.name)
    async with (
        running_stack(only=["vector_search"]) as stack,
        channel_to(stack, "vector_search") as channel,
    ):
        stub = documents_pb2_grpc.DocumentServiceStub(channel)
        async with local_embedder() as embedder:
            await _with_embedding(stub, embedder, _passages(options), figures)
        await _with_vectors(stack, stub, options, figures)


def _passages(options: Options) -> list[Passage]:
    data = generated(_EMBEDDED) if options.data is None else read_multihop(options.folder())
    return [Passage(d.id, d.title, d.text) for d in data.documents[:_EMBEDDED]]


async def _with_embedding(
    stub: documents_pb2_grpc.DocumentServiceStub,
    embedder: Embedder,
    passages: Sequence[Passage],
    figures: Figures,
) -> None:
    """Writes the passages through the tier, which embeds them, and embeds them directly, in alternating rounds."""

    async def over_grpc(part: Sequence[Passage]) -> None:
        await stub.BatchUpsertDocuments(upsert_request(part, "", "local"), timeout=_DEADLINE)

    async def alone(part: Sequence[Passage]) -> None:
        await embedder.embed([f"{each.title}\n{each.text}" for each in part])

    note("loading the model on both sides")
    await over_grpc([Passage("first", "", "loads the model")])
    await alone([Passage("first", "", "loads the model")])
    tier_s, alone_s = await _in_turn(passages, _EMBEDDED_ROUND, over_grpc, alone)
    figures.put("embedder_per_s", len(passages) / alone_s, "passages/s")
    figures.put("embedded_per_s", len(passages) / tier_s, "passages/s")
    figures.put("embedder_ratio", alone_s / tier_s, "ratio")


async def _with_vectors(
    stack: LocalStack,
    stub: documents_pb2_grpc.DocumentServiceStub,
    options: Options,
    figures: Figures,
) -> None:
    """Writes the passages into two spaces in alternating rounds, then waits for the index."""
    # These texts are always generated; the folder is only for the other comparison.
    texts = sentences(replace(options, data=None), _GIVEN)
    vectors = await embedded(texts)
    passages = [Passage(f"u{n}", "", text, vectors[n]) for n, text in enumerate(texts)]

    async def over_grpc(part: Sequence[Passage], space: str = "tier") -> None:
        request = upsert_request(part, MODEL, space)
        called = credential(stack.data, space)
        await stub.BatchUpsertDocuments(request, timeout=_DEADLINE, metadata=called)

    await over_grpc([_first("tier")], "tier")
    await over_grpc([_first("direct")], "direct")
    async with reference(stack, "direct", "braid_writer") as sql:
        direct = await DirectWriter.open(sql.pool, "direct", MODEL)
        seconds = await _in_turn(passages, _GIVEN_ROUND, over_grpc, direct.write)
        left, put_off = await waiting(stack, "tier"), await settled(stack, "tier")
    figures.put("given_vectors_per_s", len(passages) / seconds[0], "passages/s")
    figures.put("asyncpg_per_s", len(passages) / seconds[1], "passages/s")
    figures.put("given_vectors_ratio", seconds[1] / seconds[0], "ratio")
    # Writes defer the indexing; these figures include the time until the index has all vectors.
    figures.put("indexed_later_per_s", left / put_off, "passages/s")
    figures.put("given_vectors_until_indexed_ratio", seconds[1] / (seconds[0] + put_off), "ratio")


def _first(space: str) -> Passage:
    import numpy as np  # noqa: PLC0415

    return Passage("first", "", f"opens {space}", np.eye(1, 384, dtype=np.float32)[0])


async def _in_turn(
    passages: Sequence[Passage], size: int, tier: Write, other: Write
) -> tuple[float, float]:
    spent = [0.0, 0.0]
    with bar("both ways in turn", len(passages)) as show:
        for turn, part in enumerate(batches(passages, size)):
            sides = ((0, tier), (1, other))
            for side, write in sides if turn % 2 else sides[::-1]:
                spent[side] += await _written(part, write)
            show((turn + 1) * size)
    return spent[0], spent[1]


async def _written(passages: Sequence[Passage], write: Write) -> float:
    """Writes all passages in batches by several writers; returns the seconds."""
    parts: Iterator[Sequence[Passage]] = batches(passages, _BATCH)

    async def writer() -> None:
        for part in parts:
            await write(part)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(_WRITERS):
            group.create_task(writer())
    return time.perf_counter() - began
