"""Measures the time that query-aware expansion adds to a hybrid search, over a corpus and one sixteen times as large.

The larger one consists of copies of the corpus with renamed entities, so that names stay equally rare and only the size
differs. Vectors are given; those of a copy are the original's with a little noise.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Sequence

import grpc
import numpy as np

from braid.agent.v1 import search_pb2, search_pb2_grpc
from braid.common.v1 import expansion_pb2, legs_pb2, retrieval_pb2
from braid.graph.v1 import ingest_pb2, ingest_pb2_grpc
from braid.vector.v1 import search_pb2 as vector_pb2
from deploy.local.stack import LocalStack
from services.models.embedding.vectors import Matrix
from services.runtime.ids import chunk_id, content_sha256
from tests.benchmarks.callers import Sample, timed
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.credentials import LOCAL_SPACE, credential
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.benchmarks.loading import Passage, batches, store
from tests.evals.datasets import Document, Question, read_multihop
from tests.evals.embedding import local_embedder

SHARED = "multihop/2wiki_hippo1000"
LARGE = 100_000
SIZES = ("6k", "100k")
_QUERIES = 300
_WARM_UP = 100
_BATCH = 200
_LIMIT = 10
_NOISE = 0.02
_DEADLINE = 120.0
_NAME = re.compile(r"\b[A-Z][\w’'-]{2,}")
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru")


async def run(options: Options) -> None:
    """Stores the corpus and asks, then stores the copies and asks again."""
    if options.mode not in ("all", *SIZES):
        raise UsageError(f"--mode takes all, or one of {', '.join(SIZES)}")
    data = read_multihop(options.folder())
    questions = data.questions[: (options.queries or _QUERIES) + _WARM_UP]
    async with local_embedder() as embedder:
        vectors = await embedder.embed([document.passage for document in data.documents])
        model = embedder.model
    figures = Figures(options.name)
    async with running_stack() as stack:
        await _load(stack, list(_copy(data.documents, vectors, 0, options.seed)), model)
        if options.mode in ("all", "6k"):
            await _measure(stack, questions, figures, "6k")
        if options.mode in ("all", "100k"):
            copies = LARGE // len(data.documents)
            with bar("copies with renamed entities", copies) as show:
                for number in range(1, copies + 1):
                    passages = list(_copy(data.documents, vectors, number, options.seed))
                    await _load(stack, passages, model)
                    show(number)
            await _measure(stack, questions, figures, "100k")


def renamed(text: str, number: int) -> str:
    """Returns the text with a suffix of the copy on every capitalized word; copy 0 is the original."""
    if not number:
        return text
    ending = "".join(_SYLLABLES[int(digit)] for digit in str(number))
    return _NAME.sub(lambda found: found[0] + ending, text)


def _copy(
    documents: Sequence[Document], vectors: Matrix, number: int, seed: int
) -> Iterator[Passage]:
    noise = np.random.default_rng((seed, number))
    for document, vector in zip(documents, vectors, strict=True):
        moved = vector + (_NOISE if number else 0.0) * noise.standard_normal(len(vector))
        yield Passage(
            id=f"{number}/{document.id}",
            title=renamed(document.title, number),
            text=renamed(document.text, number),
            vector=(moved / np.linalg.norm(moved)).astype(np.float32),
        )


async def _load(stack: LocalStack, passages: Sequence[Passage], model: str) -> None:
    await store(stack, passages, model=model, quiet=True)
    called = credential(stack.data, LOCAL_SPACE)
    try:
        async with channel_to(stack, "graph_query") as channel:
            stub = ingest_pb2_grpc.GraphIngestServiceStub(channel)
            for part in batches(passages, _BATCH):
                request = ingest_pb2.BatchAddEpisodesRequest(episodes=map(_episode, part))
                await stub.BatchAddEpisodes(request, timeout=_DEADLINE, metadata=called)
    except grpc.aio.AioRpcError as error:
        raise MeasureError(f"episodes: {error.code().name} {error.details()}") from error


def _episode(passage: Passage) -> ingest_pb2.EpisodeInput:
    return ingest_pb2.EpisodeInput(
        chunk_id=chunk_id(LOCAL_SPACE, passage.id, content_sha256(passage.text), 0),
        document_id=passage.id,
        document_title=passage.title,
        content=passage.text,
    )


async def _measure(
    stack: LocalStack, questions: Sequence[Question], figures: Figures, size: str
) -> None:
    overheads, plain = Sample(), Sample()
    async for number, answer, took in _asked(stack, questions):
        if number < _WARM_UP:
            continue
        if answer.expansion.status != legs_pb2.LEG_STATUS_OK:
            status = legs_pb2.LegStatus.Name(answer.expansion.status)
            raise MeasureError(f"a list was not expanded: {status}")
        overhead = answer.expansion.elapsed.ToTimedelta().total_seconds() * 1000
        overheads.times_ms.append(overhead)
        plain.times_ms.append(took - overhead)
    figures.put(f"overhead_p50_ms@{size}", overheads.percentile(50), "ms")
    figures.put(f"overhead_p95_ms@{size}", overheads.percentile(95), "ms")
    figures.put(f"unexpanded_p50_ms@{size}", plain.percentile(50), "ms")


async def _asked(
    stack: LocalStack, questions: Sequence[Question]
) -> AsyncIterator[tuple[int, search_pb2.ExpandedHybridSearchResponse, float]]:
    called = credential(stack.data, LOCAL_SPACE)
    async with channel_to(stack, "agent_orchestrator") as channel:
        stub = search_pb2_grpc.SearchServiceStub(channel)
        with bar("asking", len(questions)) as show:
            for number, question in enumerate(questions):
                request = search_pb2.ExpandedHybridSearchRequest(
                    search=vector_pb2.HybridSearchRequest(
                        query=question.text, limit=_LIMIT, cache=retrieval_pb2.CACHE_MODE_BYPASS
                    ),
                    expansion=expansion_pb2.ExpansionOptions(
                        mode=expansion_pb2.EXPANSION_MODE_QUERY_AWARE
                    ),
                )
                call = stub.ExpandedHybridSearch(request, timeout=_DEADLINE, metadata=called)
                answer, took = await timed(call)
                show(number + 1)
                yield number, answer, took
