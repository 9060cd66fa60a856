"""Measures ingestion compared with the embedder alone, then a long ingestion with given vectors."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import psutil

from deploy.local.stack import LocalStack
from services.models.embedding.embedder import Embedder
from tests.benchmarks import ingest_workers
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import invented_passages
from tests.benchmarks.given_vectors import given_vectors
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.benchmarks.uploading import Text, ingested
from tests.benchmarks.wait_for_index import settled
from tests.evals.datasets import read_multihop
from tests.evals.embedding import embedding_seconds, local_embedder

_EMBEDDED = 4_000
_ROUND = 1_000
_WARMING = 2_000
_GIVEN = 50_000
_UPLOAD = 2_500
_MIB = 2**20
_PROCESSES = ("agent_orchestrator", "agent_worker", "vector_search", "graph_query")


async def run(options: Options) -> None:
    """Runs both parts; `--queries` is the number of passages of the second, and the maximum for the first.

    The mode `workers` only compares two workers with one.
    """
    figures = Figures(options.name)
    if options.mode == "workers":
        await ingest_workers.run(options, figures)
        return
    given = options.queries or _GIVEN
    texts = _passages(options, min(_EMBEDDED, given))
    async with (
        running_stack() as stack,
        channel_to(stack, "agent_orchestrator") as channel,
        local_embedder() as embedder,
    ):
        await _against_embedder(stack, channel, embedder, texts, figures)
    async with (
        given_vectors(options.seed) as environment,
        running_stack(environment=environment) as stack,
        channel_to(stack, "agent_orchestrator") as channel,
    ):
        await _at_length(stack, channel, invented_passages("given", given, options.seed), figures)


def _passages(options: Options, count: int) -> list[Text]:
    if options.data is None:
        return invented_passages("embedded", count, options.seed)
    documents = read_multihop(options.folder()).documents[:count]
    return [Text(document.id, document.title, document.text) for document in documents]


async def _against_embedder(
    stack: LocalStack,
    channel: grpc.aio.Channel,
    embedder: Embedder,
    texts: Sequence[Text],
    figures: Figures,
) -> None:
    """Embeds and ingests the same passages, in alternating rounds."""
    note(
        "warming both sides: models are loaded, the graph's virtual machine compiles what it runs often"
    )
    await ingested(channel, invented_passages("warming", _WARMING, 0))
    alone = searchable = graph_ready = put_off = 0.0
    with bar("both ways in turn", len(texts)) as show:
        for start in range(0, len(texts), _ROUND):
            part = texts[start : start + _ROUND]
            put_off += await settled(stack)  # so that the embedder runs on an idle machine
            alone += await embedding_seconds(embedder, [f"{t.title}\n{t.text}" for t in part])
            spent = await ingested(channel, part)
            searchable += spent.searchable
            graph_ready += spent.graph_ready
            show(start + len(part))
    figures.put("embedder_per_s", len(texts) / alone, "passages/s")
    figures.put("searchable_per_s", len(texts) / searchable, "passages/s")
    figures.put("graph_ready_per_s", len(texts) / graph_ready, "passages/s")
    figures.put("searchable_embedder_ratio", alone / searchable, "ratio")
    figures.put("graph_ready_embedder_ratio", alone / graph_ready, "ratio")
    # The time until the index had all vectors, between the rounds and after the last one.
    figures.put("index_settled_after_s", put_off + await settled(stack), "s")


async def _at_length(
    stack: LocalStack,
    channel: grpc.aio.Channel,
    texts: Sequence[Text],
    figures: Figures,
) -> None:
    """Ingests all passages in consecutive uploads; measures memory growth after the first tenth."""
    seconds, resident = 0.0, 0
    with bar("with vectors given", len(texts)) as show:
        for start in range(0, len(texts), _UPLOAD):
            part = texts[start : start + _UPLOAD]
            seconds += (await ingested(channel, part)).graph_ready
            show(start + len(part))
            if not resident and start + len(part) >= len(texts) / 10:
                resident = _resident_bytes(stack)
    figures.put("given_vectors_graph_ready_per_s", len(texts) / seconds, "passages/s")
    figures.put("rss_growth_mib", (_resident_bytes(stack) - resident) / _MIB, "MiB")
    figures.put("given_vectors_passages", len(texts), "passages")


def _resident_bytes(stack: LocalStack) -> int:
    """Returns the resident bytes of Braid's processes, without the stores, whose caches have a fixed size."""
    pids = [stack.pid(name) for name in _PROCESSES]
    return sum(psutil.Process(pid).memory_info().rss for pid in pids if pid is not None)
