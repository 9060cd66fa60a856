"""Compares SearchFacts with Graphiti's own search on one Neo4j with the same facts and vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import query_pb2, query_pb2_grpc
from deploy.local.stack import LocalStack
from tests.benchmarks.callers import Sample, load, timed
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.credentials import credential
from tests.benchmarks.fact_loading import drop_vector_index, load_facts, own_store
from tests.benchmarks.fact_rows import FactRow, fact_rows
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.graphiti import graphiti_search
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.benchmarks.sentences import MODEL, Matrix, embedded
from tests.evals.metrics import mean

SHARED = "temporal"
SIZES = {"10k": 10_000, "100k": 100_000}
_QUERIES = 200
_GRAPHITI_QUERIES = 20
_WARM_UP = 20
_LIMIT = 10
_RECALL = 20
_CALLERS = 8
_DEADLINE = 30.0
# Contains no words, so that facts are found only by the vector.
_NO_WORDS = "?"


@dataclass(frozen=True, slots=True)
class _Corpus:
    """Facts with their vectors, and questions that are parts of facts that are not stored."""

    rows: Sequence[FactRow]
    vectors: Matrix
    asked: Sequence[str]
    queries: Matrix

    def nearest(self, query: Matrix, size: int) -> set[str]:
        """Returns the statements of the facts nearest to a query, by exact comparison of the first `size`."""
        scores = self.vectors[:size] @ query
        return {self.rows[place].text for place in np.argsort(-scores)[:_RECALL]}


@dataclass(frozen=True, slots=True)
class _Tier:
    """The running tier."""

    stack: LocalStack
    stub: query_pb2_grpc.GraphQueryServiceStub
    corpus: _Corpus

    async def ask(self, space: str, number: int) -> query_pb2.SearchFactsResponse:
        """Asks a question by words and vector, as callers do."""
        request = query_pb2.SearchFactsRequest(query=self.corpus.asked[number], limit=_LIMIT)
        return await self._search(request, self.corpus.queries[number], space)

    async def recall(self, number: int, space: str) -> float:
        """Returns the share of the exact nearest facts that the vector search finds."""
        query = self.corpus.queries[number]
        request = query_pb2.SearchFactsRequest(query=_NO_WORDS, limit=_RECALL, min_score=0)
        found = await self._search(request, query, space)
        if found.vector_path != retrieval_pb2.VECTOR_PATH_INDEX:
            raise MeasureError("the vector index was not used")
        exact = self.corpus.nearest(query, SIZES[space])
        return len({hit.fact.statement for hit in found.hits} & exact) / len(exact)

    async def _search(
        self, request: query_pb2.SearchFactsRequest, vector: Matrix, space: str
    ) -> query_pb2.SearchFactsResponse:
        given = retrieval_pb2.QueryEmbedding(embedding_model=MODEL, values=vector.tolist())
        request.query_embedding.CopyFrom(given)
        called = credential(self.stack.data, space)
        return await self.stub.SearchFacts(request, timeout=_DEADLINE, metadata=called)


async def run(options: Options) -> None:
    """Loads both sizes, then asks both sides the same questions."""
    figures = Figures(options.name)
    corpus = await _corpus(options)
    async with (
        running_stack(only=["graph_query"]) as stack,
        channel_to(stack, "graph_query") as channel,
    ):
        await _load(stack, corpus)
        tier = _Tier(stack, query_pb2_grpc.GraphQueryServiceStub(channel), corpus)
        await _measure(tier, figures, options.queries or _QUERIES)


async def _measure(tier: _Tier, figures: Figures, queries: int) -> None:
    p50: dict[str, float] = {}
    for space in SIZES:
        numbers = range(_WARM_UP + queries)
        sample = await _times(f"asking: {space}", numbers, partial(tier.ask, space))
        p50[space] = sample.percentile(50)
        figures.put(f"p50_ms@{space}", p50[space], "ms")
        figures.put(f"p95_ms@{space}", sample.percentile(95), "ms")
    figures.put("growth_10k_100k", p50["100k"] / p50["10k"], "ratio")
    recalls = [await tier.recall(number, "100k") for number in range(queries)]
    figures.put(f"recall@{_RECALL}", mean(recalls), "ratio")
    crowd = await load(_CALLERS, range(_WARM_UP, queries), partial(tier.ask, "100k"))
    figures.put(f"qps@{_CALLERS}", crowd.rate, "calls/s")
    theirs = await _graphiti(tier)
    figures.put("graphiti_p50_ms@100k", theirs, "ms")
    figures.put("speedup@100k", theirs / p50["100k"], "times")


async def _graphiti(tier: _Tier) -> float:
    """Returns Graphiti's median time for the first questions."""
    corpus = tier.corpus
    async with graphiti_search(tier.stack, "100k", _LIMIT) as other:
        if not await other.ask(corpus.asked[0], corpus.queries[0]):
            raise MeasureError("Graphiti's search found nothing")
        sample = await _times(
            "asking: Graphiti",
            range(2 + _GRAPHITI_QUERIES),
            lambda n: other.ask(corpus.asked[n], corpus.queries[n]),
            warm_up=2,
        )
    return sample.percentile(50)


async def _times(
    text: str,
    numbers: Sequence[int],
    ask: Callable[[int], Awaitable[object]],
    warm_up: int = _WARM_UP,
) -> Sample:
    """Asks one question after another; returns the times without the warm-up."""
    sample = Sample()
    with bar(text, len(numbers)) as show:
        for number in numbers:
            _, took = await timed(ask(number))
            show(number + 1)
            if number >= warm_up:
                sample.times_ms.append(took)
    return sample


async def _load(stack: LocalStack, corpus: _Corpus) -> None:
    """Stores both spaces without the vector index and builds it afterwards, which takes a third of the time."""
    await drop_vector_index(stack)
    for space, size in SIZES.items():
        await load_facts(stack, corpus.rows[:size], corpus.vectors[:size], space)
    note("building the vector index")
    async with own_store(stack) as store:
        await store.ensure_schema()


async def _corpus(options: Options) -> _Corpus:
    queries = (options.queries or _QUERIES) + _WARM_UP
    most = max(SIZES.values())
    rows = fact_rows(options, most + queries)
    # A question is the first half of a statement that is not stored.
    asked = [" ".join(row.text.split()[: len(row.text.split()) // 2 + 1]) for row in rows[most:]]
    vectors = await embedded([row.text for row in rows[:most]])
    return _Corpus(rows[:most], vectors, asked, await embedded(asked))
