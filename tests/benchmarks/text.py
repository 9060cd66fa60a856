"""Measures BM25 on a small and a large corpus of the same words: growth of latency, and exactness of results."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from braid.vector.v1 import search_pb2, search_pb2_grpc
from deploy.local.stack import LocalStack
from tests.benchmarks.callers import Sample, timed
from tests.benchmarks.command import Options
from tests.benchmarks.credentials import credential
from tests.benchmarks.exhaustive import exhaustive, same_list
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.benchmarks.loading import Passage, store
from tests.benchmarks.reference import reference
from tests.evals.datasets import Dataset, read_multihop

_SMALL, _LARGE = 6_000, 100_000
_QUERIES = 300
_WARM_UP = 50
_LIMIT = 10
_WORDS = 40
# Vectors are not searched; short ones are stored quickly.
_MODEL, _DIMENSION = "not-searched", 4


async def run(options: Options) -> None:
    """Stores both corpora in separate spaces, and asks each the same questions, none of them twice."""
    count = options.queries or _QUERIES
    texts, queries = _corpus(options, _LARGE, count + _WARM_UP)
    figures = Figures(options.name)
    spaces = {"6k": _SMALL, "100k": _LARGE}
    async with running_stack(only=["vector_search"]) as stack:
        for space, size in spaces.items():
            await store(stack, _passages(texts[:size]), model=_MODEL, space=space)
        samples = await _ask(stack, list(spaces), queries)
        for space, sample in samples.items():
            figures.put(f"p50_ms@{space}", sample.percentile(50), "ms")
            figures.put(f"p95_ms@{space}", sample.percentile(95), "ms")
        growth = samples["100k"].percentile(50) / samples["6k"].percentile(50)
        figures.put("growth", growth, "ratio")
        for space in spaces:
            same = await _same_lists(stack, space, queries[_WARM_UP:])
            figures.put(f"same_top10_pct@{space}", 100 * same, "percent")
        figures.put("same_top10_pct", 100 * same, "percent")


def _corpus(options: Options, size: int, questions: int) -> tuple[list[str], list[str]]:
    """Returns `size` texts, and questions. If a folder has fewer texts, its sentences are recombined into more."""
    chance = random.Random(options.seed)  # noqa: S311
    if options.data is None:
        note("no --data: texts of invented words, as frequent as words are")
        words = _invented_words(chance, size * _WORDS)
        texts = [" ".join(islice(words, _WORDS)) for _ in range(size)]
        return texts, [_about(text, chance) for text in chance.sample(texts, questions)]
    data = read_multihop(options.folder())
    texts = _recombined(data, size, chance)
    asked = [question.text for question in data.questions]
    return texts, [asked[n % len(asked)] for n in range(questions)]


def _recombined(data: Dataset, size: int, chance: random.Random) -> list[str]:
    texts = [document.passage for document in data.documents][:size]
    pool = [part for document in data.documents for part in document.text.split(". ") if part]
    lengths = [len(document.text.split(". ")) for document in data.documents]
    while len(texts) < size:
        texts.append(". ".join(chance.sample(pool, chance.choice(lengths))))
    return texts


def _invented_words(chance: random.Random, count: int) -> Iterator[str]:
    """Yields words by Zipf's law, without the 100 most frequent ones, which are stop words in any language."""
    ranks = range(101, 60_001)
    weights = [1 / rank**1.05 for rank in ranks]
    for rank in chance.choices(ranks, weights, k=count):
        yield f"w{rank:x}q"


def _about(text: str, chance: random.Random) -> str:
    return " ".join(chance.sample(text.split(), 6))


def _passages(texts: Sequence[str]) -> list[Passage]:
    vectors = np.random.default_rng(1).normal(size=(len(texts), _DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [Passage(f"d{n}", "", text, vectors[n]) for n, text in enumerate(texts)]


async def _ask(
    stack: LocalStack, spaces: Sequence[str], queries: Sequence[str]
) -> dict[str, Sample]:
    samples = {space: Sample() for space in spaces}
    async with channel_to(stack, "vector_search") as channel:
        stub = search_pb2_grpc.VectorSearchServiceStub(channel)
        with bar("asking", len(queries)) as show:
            for number, query in enumerate(queries):
                request = search_pb2.TextSearchRequest(query=query, limit=_LIMIT)
                for space, sample in samples.items():
                    call = stub.TextSearch(
                        request, timeout=30, metadata=credential(stack.data, space)
                    )
                    _, took = await timed(call)
                    if number >= _WARM_UP:
                        sample.times_ms.append(took)
                show(number + 1)
    return samples


async def _same_lists(stack: LocalStack, space: str, queries: Sequence[str]) -> float:
    """Returns the share of questions whose ten hits equal those of the exhaustive BM25."""
    same = 0
    called = credential(stack.data, space)
    async with channel_to(stack, "vector_search") as channel, reference(stack, space) as sql:
        stub = search_pb2_grpc.VectorSearchServiceStub(channel)
        with bar(f"exhaustive BM25 in {space}", len(queries)) as show:
            for number, query in enumerate(queries):
                request = search_pb2.TextSearchRequest(query=query, limit=_LIMIT)
                found = await stub.TextSearch(request, timeout=30, metadata=called)
                best = await exhaustive(sql, query, _LIMIT)
                same += same_list([(h.chunk.id, h.score) for h in found.hits], best)
                show(number + 1)
    return same / max(1, len(queries)) if queries else math.nan
