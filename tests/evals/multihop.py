"""Recall and speed on a multi-hop set, and what its ingestion costs next to the embedder alone."""

from __future__ import annotations

from deploy.local.stack import LocalStack
from services.models.embedder import Embedder
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import running_stack
from tests.evals.asking import Answers, ask, chosen_modes
from tests.evals.datasets import Dataset, Question, read_multihop
from tests.evals.embedding import embedding_seconds, local_embedder
from tests.evals.ingestion import ingest
from tests.evals.metrics import mean, recall_at

SHARED = "multihop/2wiki_hippo1000"


async def run(options: Options) -> None:
    """Ingest the folder's corpus, then ask every question in every mode asked for."""
    modes = chosen_modes(options.mode)
    data = read_multihop(options.folder())
    figures = Figures("multihop")
    questions = data.questions[: options.queries]
    async with running_stack() as stack, local_embedder() as embedder:
        await _ingestion(stack, embedder, data, figures)
        for mode in modes:
            answers = await ask(stack.addresses["gateway"], mode, questions)
            _put(figures, mode, questions, answers)


async def _ingestion(
    stack: LocalStack, embedder: Embedder, data: Dataset, figures: Figures
) -> None:
    """Half of the passages are embedded alone before and half after: a machine's mood cancels out."""
    passages = [document.passage for document in data.documents]
    note("embedding half of the passages alone")
    alone = await embedding_seconds(embedder, passages[::2])
    took = await ingest(stack, data.documents)
    note("embedding the other half alone")
    alone += await embedding_seconds(embedder, passages[1::2])
    figures.put("ingest_s", took, "s")
    figures.put("embedder_s", alone, "s")
    figures.put("ingest_over_embedder", took / alone, "ratio")


def _put(figures: Figures, mode: str, questions: list[Question], answers: Answers) -> None:
    for k in (2, 5, 10):
        pairs = zip(answers.rankings, questions, strict=True)
        found = mean([recall_at(ranked, question.relevance, k) for ranked, question in pairs])
        figures.put(f"{mode}.recall@{k}", 100 * found, "percent")
    figures.put(f"{mode}.p50_ms", answers.p50_ms, "ms")
