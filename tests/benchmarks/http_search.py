"""Measures hybrid search over HTTP with an embedding provider: speed, throughput and recall, compared with the SQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from deploy.local.stack import LocalStack
from tests.benchmarks.callers import Sample
from tests.benchmarks.command import Options
from tests.benchmarks.corpus import corpus_of
from tests.benchmarks.embedding_server import DIMENSION, MODEL
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import bar, running_stack
from tests.benchmarks.processes import started
from tests.benchmarks.reference import reference
from tests.benchmarks.web import WebClient
from tests.evals.asking import LIMIT, ask
from tests.evals.datasets import Question
from tests.evals.embedding import local_embedder
from tests.evals.ingestion import ingest
from tests.evals.metrics import distinct, mean, percentile, recall_at

SHARED = "multihop/2wiki_hippo1000"
_CALLERS = 8
_LOAD = 2_000
_REMEMBERED = 256


async def run(options: Options) -> None:
    """Ingests with the provider, asks with one caller, then with eight, then runs the same SQL directly."""
    data = corpus_of(options)
    questions = data.questions[: options.queries]
    figures = Figures(options.name)
    async with (
        started("tests.benchmarks.embedding_server") as (_, base_url),
        running_stack(environment=provider(base_url)) as stack,
    ):
        await ingest(stack, data.documents)
        await asyncio.to_thread(remember, base_url, [question.text for question in questions])
        answers = await ask(stack.addresses["gateway"], "hybrid", questions)
        figures.put("p50_ms", answers.p50_ms, "ms")
        figures.put("p95_ms", percentile(answers.times_ms, 95), "ms")
        figures.put("recall@5", 100 * _recall(answers.rankings, questions), "percent")
        rate = await _several(stack.addresses["gateway"], questions)
        figures.put(f"qps@{_CALLERS}", rate.rate, "queries/s")
        figures.put(f"p95_ms@{_CALLERS}", rate.percentile(95), "ms")
        await _reference(stack, questions, figures)


def provider(base_url: str) -> dict[str, str]:
    """Returns the settings of a stack whose embeddings come from the provider."""
    return {
        "EMBEDDING_PROVIDER": "openai",
        "EMBEDDING_BASE_URL": base_url,
        "EMBEDDING_API_KEY": "measured",
        "EMBEDDING_MODEL": MODEL,
        "EMBEDDING_DIMENSION": str(DIMENSION),
    }


def remember(base_url: str, texts: Sequence[str]) -> None:
    """Makes the provider compute and cache the questions' vectors, because Braid is measured, not the provider."""
    address = base_url.removeprefix("http://").removesuffix("/v1")
    with WebClient(address, timeout=120) as client:
        for start in range(0, len(texts), _REMEMBERED):
            body = {"model": MODEL, "input": list(texts[start : start + _REMEMBERED])}
            client.post("/v1/embeddings", body)


def _recall(rankings: Sequence[Sequence[str]], questions: Sequence[Question]) -> float:
    pairs = zip(rankings, questions, strict=True)
    return mean([recall_at(ranked, question.relevance, 5) for ranked, question in pairs])


async def _several(address: str, questions: Sequence[Question]) -> Sample:
    stopped = Event()
    try:
        return await asyncio.to_thread(_load, address, questions, stopped)
    finally:
        stopped.set()


def _load(address: str, questions: Sequence[Question], stopped: Event) -> Sample:
    """Distributes the questions over callers with a connection and one outstanding question each."""
    dealt = [questions[n % len(questions)].text for n in range(_LOAD)]
    sample = Sample()

    def caller(first: int) -> None:
        with WebClient(address) as client:
            for text in dealt[first::_CALLERS]:
                if stopped.is_set():
                    return
                began = time.perf_counter()
                client.post("/api/search/hybrid", {"query": text, "limit": LIMIT})
                sample.times_ms.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    with ThreadPoolExecutor(_CALLERS) as threads:
        list(threads.map(caller, range(_CALLERS)))
    sample.wall_s = time.perf_counter() - began
    return sample


async def _reference(stack: LocalStack, questions: Sequence[Question], figures: Figures) -> None:
    rankings, sample = [], Sample()
    async with local_embedder() as embedder, reference(stack) as sql:
        vectors = await embedder.embed([question.text for question in questions])
        with bar("the same SQL directly", len(questions)) as show:
            for number, question in enumerate(questions):
                began = time.perf_counter()
                rows = await sql.hybrid(question.text, vectors[number], MODEL, LIMIT)
                sample.times_ms.append((time.perf_counter() - began) * 1000)
                rankings.append(distinct(row["document_id"] for row in rows))
                show(number + 1)
    figures.put("reference_sql_recall@5", 100 * _recall(rankings, questions), "percent")
    figures.put("reference_sql_p50_ms", sample.percentile(50), "ms")
    figures.put("reference_sql_p95_ms", sample.percentile(95), "ms")
