"""Measures recall and speed of the vector index: several sizes, many tenants, a selective filter, a point in time."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import retrieval_pb2
from braid.vector.v1 import chunks_pb2, search_pb2, search_pb2_grpc
from deploy.local.stack import LocalStack
from tests.benchmarks.callers import Sample, timed
from tests.benchmarks.command import Options, UsageError
from tests.benchmarks.credentials import credential
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.benchmarks.loading import Passage, store
from tests.benchmarks.sentences import MODEL, Matrix, embedded, sentences
from tests.evals.metrics import mean

SHARED = "temporal"
CASES = ("10k", "100k", "400k", "tenants", "filter1pct", "asof")
_SIZES = {"10k": 10_000, "100k": 100_000, "400k": 400_000}
_TENANTS = 1_000
_TENANT_ROWS = 50_000
_QUERIES = 200
_WARM_UP = 20
_LIMIT = 10
_YEAR = 365 * 86_400
_SHARDS = 100


@dataclass(frozen=True, slots=True)
class _Corpus:
    """The vectors of all passages, and those of queries, which are not stored."""

    texts: Sequence[str]
    vectors: Matrix
    queries: Matrix

    def passage(self, row: int, *, valid_from: int | None = None) -> Passage:
        """Builds a row's document; the filter selects by `shard`."""
        shard = {"shard": str(row % _SHARDS)}
        return Passage(f"d{row}", "", self.texts[row], self.vectors[row], shard, valid_from)

    def nearest(self, query: Matrix, rows: Sequence[int] | np.ndarray) -> set[str]:
        """Returns the ids of the best passages among some rows, by exact comparison."""
        found = np.asarray(rows)
        scores = self.vectors[found] @ query
        return {f"d{row}" for row in found[np.argsort(-scores)[:_LIMIT]]}


@dataclass(frozen=True, slots=True)
class _Case:
    """A kind of query: the space, the restriction, and the rows that may be found."""

    space: Callable[[int], str]
    rows: Callable[[int], Sequence[int] | np.ndarray]
    metadata: dict[str, str]
    as_of: int | None = None


@dataclass(frozen=True, slots=True)
class _Tier:
    """The running tier with its stored passages."""

    stack: LocalStack
    stub: search_pb2_grpc.VectorSearchServiceStub
    corpus: _Corpus

    async def measure(self, case: _Case, name: str) -> tuple[Sample, list[float]]:
        """Returns the times of all questions, and for each the share of the exact ten that it found."""
        sample, recalls = Sample(), []
        with bar(f"asking: {name}", len(self.corpus.queries)) as show:
            for number, query in enumerate(self.corpus.queries):
                found, took = await self._ask(case, query, number)
                show(number + 1)
                if number >= _WARM_UP:
                    exact = self.corpus.nearest(query, case.rows(number))
                    recalls.append(len(found & exact) / len(exact))
                    sample.times_ms.append(took)
        return sample, recalls

    async def _ask(self, case: _Case, query: Matrix, number: int) -> tuple[set[str], float]:
        called = credential(self.stack.data, case.space(number))
        call = self.stub.VectorSearch(_request(query, case), timeout=30, metadata=called)
        answer, took = await timed(call)
        return {hit.chunk.document_id for hit in answer.hits}, took


async def run(options: Options) -> None:
    """Loads the data of the chosen cases, then asks each case questions that were not asked before."""
    cases = _chosen(options.mode)
    figures = Figures(options.name)
    p50: dict[str, float] = {}
    corpus = await _corpus(options, _rows_needed(cases))
    async with (
        running_stack(only=["vector_search"]) as stack,
        channel_to(stack, "vector_search") as channel,
    ):
        tier = _Tier(stack, search_pb2_grpc.VectorSearchServiceStub(channel), corpus)
        for name in cases:
            case = await _LOADERS[name](stack, corpus, name)
            sample, recalls = await tier.measure(case, name)
            figures.put(f"recall@10.{name}", mean(recalls), "ratio")
            figures.put(f"p50_ms.{name}", sample.percentile(50), "ms")
            figures.put(f"p95_ms.{name}", sample.percentile(95), "ms")
            p50[name] = sample.percentile(50)
    if {"100k", "400k"} <= p50.keys():
        figures.put("growth_100k_400k", p50["400k"] / p50["100k"], "ratio")


def _chosen(mode: str) -> Sequence[str]:
    if mode == "all":
        return CASES
    wanted = mode.split(",")
    if not set(wanted) <= set(CASES):
        raise UsageError(f"--mode takes all, or some of {', '.join(CASES)} with commas between")
    # The case with the filter searches the space of the case 100k.
    return [name for name in CASES if name in wanted or (name == "100k" and "filter1pct" in wanted)]


def _rows_needed(cases: Sequence[str]) -> int:
    return max(_SIZES.get(name, _TENANT_ROWS) for name in cases)


async def _corpus(options: Options, rows: int) -> _Corpus:
    texts = sentences(options, rows + _QUERIES + _WARM_UP)
    # A question is the first half of a sentence that is not stored.
    asked = [" ".join(text.split()[: len(text.split()) // 2 + 1]) for text in texts[rows:]]
    return _Corpus(texts[:rows], await embedded(texts[:rows]), await embedded(asked))


def _request(query: Matrix, case: _Case) -> search_pb2.VectorSearchRequest:
    given = retrieval_pb2.QueryEmbedding(embedding_model=MODEL, values=query.tolist())
    chosen = chunks_pb2.ChunkFilter()
    chosen.metadata.update(case.metadata)
    return search_pb2.VectorSearchRequest(
        query="given as a vector",
        limit=_LIMIT,
        query_embedding=given,
        filter=chosen if case.metadata else None,
        as_of=None if case.as_of is None else Timestamp(seconds=case.as_of),
    )


async def _one_space(stack: LocalStack, corpus: _Corpus, name: str) -> _Case:
    rows = range(_SIZES[name])
    await store(stack, [corpus.passage(row) for row in rows], model=MODEL, space=name)
    return _Case(lambda _: name, lambda _: rows, {})


async def _filtered(stack: LocalStack, corpus: _Corpus, name: str) -> _Case:
    rows = range(7, _SIZES["100k"], _SHARDS)
    return _Case(lambda _: "100k", lambda _: rows, {"shard": "7"})


async def _tenants(stack: LocalStack, corpus: _Corpus, name: str) -> _Case:
    """Stores spaces of mixed sizes: a few large ones and many with some dozen chunks."""
    shares = 1 / np.arange(1, _TENANTS + 1)
    sizes = np.maximum(5, shares / shares.sum() * _TENANT_ROWS).astype(int)
    ends = np.minimum(np.cumsum(sizes), _TENANT_ROWS)
    parts = [range(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    parts = [part for part in parts if len(part) >= 1 and part.start >= 0]
    with bar("storing tenants", len(parts)) as show:
        for number, part in enumerate(parts):
            await store(
                stack,
                [corpus.passage(row) for row in part],
                model=MODEL,
                space=f"t{number}",
                quiet=True,
            )
            show(number + 1)
    asked = [random.Random(number).randrange(len(parts)) for number in range(10_000)]  # noqa: S311
    return _Case(lambda n: f"t{asked[n]}", lambda n: parts[asked[n]], {})


async def _at_a_time(stack: LocalStack, corpus: _Corpus, name: str) -> _Case:
    """Stores documents valid from years spread over a century; queries are as of its middle."""
    since = [(row * 7919 % 100) * _YEAR for row in range(_TENANT_ROWS)]
    passages = [corpus.passage(row, valid_from=year) for row, year in enumerate(since)]
    await store(stack, passages, model=MODEL, space=name)
    middle = 50 * _YEAR + 1
    rows = [row for row, year in enumerate(since) if year <= middle]
    return _Case(lambda _: name, lambda _: rows, {}, middle)


_LOADERS: dict[str, Callable[[LocalStack, _Corpus, str], Awaitable[_Case]]] = {
    "10k": _one_space,
    "100k": _one_space,
    "400k": _one_space,
    "tenants": _tenants,
    "filter1pct": _filtered,
    "asof": _at_a_time,
}
