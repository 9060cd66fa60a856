"""Measures recall and speed on a multi-hop set, and its ingestion compared with the embedder alone.

MODE=facts asks in every mode, then loads the triples of the folder's `openie.jsonl` as facts and asks again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from deploy.local.stack import LocalStack
from gateway.cli.ingest.files import File
from gateway.content_types import CONTENT_TYPES
from services.models.embedding.embedder import Embedder
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import running_stack
from tests.evals.asking import MODES, Answers, ask, chosen_modes
from tests.evals.datasets import Dataset, Question, read_multihop, read_rows
from tests.evals.embedding import embedding_seconds, local_embedder
from tests.evals.ingestion import ingest
from tests.evals.loading import load
from tests.evals.metrics import mean, recall_at
from tests.evals.related import relate

SHARED = "multihop/2wiki_hippo1000"
FACTS_MODE = "facts"
_FACTS_FILE = "facts.jsonl"
_TRIPLES = "openie.jsonl.gz"


async def run(options: Options) -> None:
    """Ingests the folder's corpus, then asks every question in every requested mode."""
    with_facts = options.mode == FACTS_MODE
    modes = MODES if with_facts else chosen_modes(options.mode, MODES)
    data = read_multihop(options.folder())
    facts = list(_stated(options.folder())) if with_facts else []
    figures = Figures("multihop")
    questions = data.questions[: options.queries]
    async with running_stack() as stack, local_embedder() as embedder:
        await _ingestion(stack, embedder, data, figures)
        if "formula" in modes:
            figures.put("relations", await relate(stack, data.documents), "relations")
        await _ask_all(stack, modes, questions, figures)
        if with_facts:
            figures.put("facts_refused", await _load(stack, facts), "facts")
            await _ask_all(stack, modes, questions, figures, "_facts")


async def _ask_all(
    stack: LocalStack,
    modes: Sequence[str],
    questions: list[Question],
    figures: Figures,
    suffix: str = "",
) -> None:
    for mode in modes:
        answers = await ask(stack.addresses["gateway"], mode, questions)
        _put(figures, f"{mode}{suffix}", questions, answers)


async def _ingestion(
    stack: LocalStack, embedder: Embedder, data: Dataset, figures: Figures
) -> None:
    """Measures the embedder half before and half after ingestion, to compensate for changes of the machine's speed."""
    passages = [document.passage for document in data.documents]
    note("embedding half of the passages alone")
    alone = await embedding_seconds(embedder, passages[::2])
    took = await ingest(stack, data.documents)
    note("embedding the other half alone")
    alone += await embedding_seconds(embedder, passages[1::2])
    figures.put("ingest_s", took, "s")
    figures.put("embedder_s", alone, "s")
    figures.put("ingest_over_embedder", took / alone, "ratio")


def _stated(folder: Path) -> Iterator[dict[str, str]]:
    """Yields triples as facts that cite their passages, if subject and object differ."""
    for row in read_rows(folder, _TRIPLES):
        for subject, relation, target in row["triples"]:
            if subject != target:
                yield {
                    "subject": subject,
                    "relation": relation,
                    "object": target,
                    "document_id": str(row["id"]),
                }


async def _load(stack: LocalStack, facts: Sequence[dict[str, str]]) -> int:
    with tempfile.TemporaryDirectory(prefix="braid-facts-") as folder:
        path = Path(folder) / _FACTS_FILE
        lines = (json.dumps(fact, ensure_ascii=False) for fact in facts)
        path.write_text("\n".join(lines), encoding="utf-8")
        return await load(stack, [File(path, path.name, CONTENT_TYPES[".jsonl"])], _FACTS_FILE)


def _put(figures: Figures, mode: str, questions: list[Question], answers: Answers) -> None:
    for k in (2, 5, 10):
        pairs = zip(answers.rankings, questions, strict=True)
        found = mean([recall_at(ranked, question.relevance, k) for ranked, question in pairs])
        figures.put(f"{mode}.recall@{k}", 100 * found, "percent")
    figures.put(f"{mode}.p50_ms", answers.p50_ms, "ms")
