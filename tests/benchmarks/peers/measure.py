"""Measures other systems beside Braid: ingestion, latency and recall@5 of the same passages with the same vectors.

Each peer is installed by its package's name into an environment of its own in the user's cache folder. Those that store
nothing without a language model (Hindsight, Graphiti) are not measured: no paid key is used.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from deploy.local.provision import SUPERUSER
from deploy.local.stack import LocalStack
from services.runtime.user_folders import cache_folder
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.corpus import corpus_of
from tests.benchmarks.embedding_server import DIMENSION, MODEL
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import running_stack
from tests.benchmarks.http_search import provider, remember
from tests.benchmarks.processes import started
from tests.evals.asking import LIMIT, ask
from tests.evals.datasets import Dataset, Document, Question
from tests.evals.ingestion import ingest
from tests.evals.metrics import distinct, mean, percentile, recall_at

SHARED = "multihop/2wiki_hippo1000"
_QUESTIONS = 200
_PROGRAMS = Path(__file__).parent


class Peer(NamedTuple):
    """A system and the packages that it needs; none for what Braid's own environment has."""

    name: str
    packages: tuple[str, ...] = ()


PEERS = (
    Peer("pgvector"),
    Peer("mem0", ("mem0ai==2.2.1", "psycopg[binary,pool]==3.3.9")),
    Peer("lightrag", ("lightrag-hku==1.5.7",)),
)


async def run(options: Options) -> None:
    """Measures Braid over HTTP, then each peer as a library; MODE chooses one peer."""
    data = corpus_of(options)
    questions = data.questions[: options.queries or _QUESTIONS]
    figures = Figures(options.name)
    chosen = [one for one in PEERS if options.mode in ("all", one.name)]
    async with (
        started("tests.benchmarks.embedding_server") as (_, base_url),
        running_stack(environment=provider(base_url)) as stack,
    ):
        texts = [*(one.passage for one in data.documents), *map(passage_line, data.documents)]
        await asyncio.to_thread(remember, base_url, [*texts, *(one.text for one in questions)])
        await _braid(stack, data, questions, figures)
        for peer in chosen:
            found = await _measure(peer, stack, data, questions, base_url)
            note(f"{peer.name} {found['version']}")
            figures.put(f"{peer.name}.docs_per_s", len(data.documents) / found["seconds"], "docs/s")
            _put(figures, peer.name, found["rankings"], found["times_ms"], questions)


def passage_line(document: Document) -> str:
    """Returns a passage as peers store it: they replace line breaks by spaces, which would be another text."""
    return " ".join(f"{document.title}. {document.text}".split())


async def _braid(
    stack: LocalStack, data: Dataset, questions: Sequence[Question], figures: Figures
) -> None:
    seconds = await ingest(stack, data.documents)
    figures.put("braid.docs_per_s", len(data.documents) / seconds, "docs/s")
    for mode in ("hybrid", "comprehensive"):
        answers = await ask(stack.addresses["gateway"], mode, questions)
        _put(figures, f"braid_{mode}", answers.rankings, answers.times_ms, questions)


def _put(
    figures: Figures,
    name: str,
    rankings: Sequence[Sequence[str]],
    times_ms: Sequence[float],
    questions: Sequence[Question],
) -> None:
    pairs = zip(rankings, questions, strict=True)
    recalls = [recall_at(distinct(ranked), asked.relevance, 5) for ranked, asked in pairs]
    figures.put(f"{name}.recall@5", 100 * mean(recalls), "percent")
    figures.put(f"{name}.p50_ms", percentile(times_ms, 50), "ms")
    figures.put(f"{name}.p95_ms", percentile(times_ms, 95), "ms")


async def _measure(
    peer: Peer, stack: LocalStack, data: Dataset, questions: Sequence[Question], base_url: str
) -> Mapping[str, Any]:
    python = await _environment(peer)
    database = await _database(stack, peer.name)
    with tempfile.TemporaryDirectory(prefix="braid-peer-") as folder:
        task = {
            "documents": [{"id": one.id, "text": passage_line(one)} for one in data.documents],
            "questions": [one.text for one in questions],
            "limit": LIMIT,
            "embeddings": base_url,
            "model": MODEL,
            "dimension": DIMENSION,
            "database": database,
            "folder": folder,
        }
        place = Path(folder) / "task.json"
        place.write_text(json.dumps(task))
        output = await _output(python, _PROGRAMS / f"{peer.name}_peer.py", place)
    found: Mapping[str, Any] = json.loads(output)
    return found


async def _environment(peer: Peer) -> Path:
    """Returns the Python of a peer, which is installed the first time."""
    if not peer.packages:
        return Path(sys.executable)
    cache = cache_folder(os.environ)
    if cache is None:
        raise MeasureError("peers are installed in the cache folder, and the user has no home")
    folder = cache / "peers" / peer.packages[0].replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        note(f"installing {', '.join(peer.packages)}")
        await _output(Path(sys.executable), "-m", "venv", "--clear", folder)
        await _output(python, "-m", "pip", "install", "--quiet", *peer.packages)
        (folder / "installed").touch()
    return python


async def _database(stack: LocalStack, name: str) -> str:
    """Returns the address of a new database of the stack's PostgreSQL."""
    connection = await asyncpg.connect(stack.stores.postgres.dsn(SUPERUSER))
    try:
        await connection.execute(f'create database "peer_{name}"')
    finally:
        await connection.close()
    return stack.stores.postgres.dsn(SUPERUSER, f"peer_{name}")


async def _output(python: Path, *arguments: str | Path) -> bytes:
    process = await asyncio.create_subprocess_exec(
        python, *arguments, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.shield(process.wait())
    if process.returncode:
        raise MeasureError(f"{arguments[0]} ended with {process.returncode}; see above")
    return output
