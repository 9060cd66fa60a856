"""Compares VectorSearch over gRPC with the same SQL through asyncpg, on the same data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from braid.common.v1 import retrieval_pb2
from braid.vector.v1 import search_pb2, search_pb2_grpc
from tests.benchmarks.callers import compare, load
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import channel_to, running_stack
from tests.benchmarks.hop import Hop, bare_hop, cold_hops
from tests.benchmarks.loading import Passage, store
from tests.benchmarks.reference import Reference, reference
from tests.benchmarks.sentences import MODEL, Matrix, embedded, sentences

SHARED = "temporal"
_PASSAGES = 100_000
_QUERIES = 12_000
_ALONE = 1_000
_COLD = 300
_ROUND = 400
_ROUNDS = 4
_CALLERS = (1, 8, 32)
_LIMIT = 10


@dataclass(frozen=True, slots=True)
class _Sides:
    """Two ways to search for the chunks nearest to a vector, and a call that does nothing."""

    tier: search_pb2_grpc.VectorSearchServiceStub
    hop: Hop
    sql: Reference

    async def over_grpc(self, vector: Matrix) -> list[str]:
        given = retrieval_pb2.QueryEmbedding(embedding_model=MODEL, values=vector.tolist())
        request = search_pb2.VectorSearchRequest(
            query="given as a vector", limit=_LIMIT, query_embedding=given
        )
        answer = await self.tier.VectorSearch(request, timeout=30)
        return [hit.chunk.id for hit in answer.hits]

    async def through_asyncpg(self, vector: Matrix) -> list[str]:
        rows = await self.sql.vector(vector, MODEL, _LIMIT)
        return [str(row["id"]) for row in rows]

    async def bare_hop(self, _vector: Matrix) -> None:
        await self.hop()


async def run(options: Options) -> None:
    """Loads, checks that both sides return the same, then measures one caller and several."""
    texts = sentences(options, _PASSAGES + _QUERIES)
    vectors = await embedded(texts)
    figures = Figures(options.name)
    async with running_stack(only=["vector_search"]) as stack:
        passages = [
            Passage(f"d{n}", "", text, vectors[n]) for n, text in enumerate(texts[:_PASSAGES])
        ]
        await store(stack, passages, model=MODEL)
        async with channel_to(stack, "vector_search") as channel, reference(stack) as sql:
            sides = _Sides(
                search_pb2_grpc.VectorSearchServiceStub(channel),
                bare_hop(channel),
                sql,
            )
            queries = iter(vectors[_PASSAGES:])
            await _warm_up(sides, queries)
            await _one_caller(sides, queries, figures)
            for callers in _CALLERS:
                await _several(sides, queries, callers, figures)


async def _warm_up(sides: _Sides, queries: Iterator[Matrix]) -> None:
    note("warming up")
    for _ in range(200):
        vector = next(queries)
        if await sides.over_grpc(vector) != await sides.through_asyncpg(vector):
            raise MeasureError("the two sides do not answer alike")


async def _one_caller(sides: _Sides, queries: Iterator[Matrix], figures: Figures) -> None:
    doors: dict[str, Callable[[Matrix], Awaitable[object]]] = {
        "grpc": sides.over_grpc,
        "sql": sides.through_asyncpg,
        "bare_hop": sides.bare_hop,
    }
    samples = await compare(doors, islice(queries, _ALONE))
    p50 = {name: sample.percentile(50) for name, sample in samples.items()}
    for name, each in p50.items():
        figures.put(f"{name}_p50_ms", each, "ms")
    cold = await cold_hops(sides.hop, sides.through_asyncpg, islice(queries, _COLD))
    figures.put("cold_hop_p50_ms", cold.percentile(50), "ms")
    figures.put("p50_overhead_ms", p50["grpc"] - p50["sql"], "ms")


async def _several(
    sides: _Sides, queries: Iterator[Matrix], callers: int, figures: Figures
) -> None:
    """Runs alternating rounds and sums their times, so that changes of the machine's speed affect both sides."""
    seconds = {"grpc": 0.0, "sql": 0.0}
    for _ in range(_ROUNDS):
        for name, ask in (("grpc", sides.over_grpc), ("sql", sides.through_asyncpg)):
            vectors = [next(queries) for _ in range(_ROUND)]
            seconds[name] += (await load(callers, vectors, ask)).wall_s
    asked = _ROUND * _ROUNDS
    figures.put(f"grpc_qps@{callers}", asked / seconds["grpc"], "queries/s")
    figures.put(f"sql_qps@{callers}", asked / seconds["sql"], "queries/s")
    figures.put(f"throughput_ratio@{callers}", seconds["sql"] / seconds["grpc"], "ratio")
