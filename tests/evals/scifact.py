"""Measures the ranking quality on SciFact or any other folder in BEIR's layout."""

from __future__ import annotations

from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import running_stack
from tests.evals.asking import ask, chosen_modes
from tests.evals.datasets import read_scifact
from tests.evals.ingestion import ingest
from tests.evals.metrics import mean, ndcg_at

SHARED = "scifact"


async def run(options: Options) -> None:
    """Ingests the folder's corpus, then asks every judged question in every requested mode."""
    modes = chosen_modes(options.mode)
    data = read_scifact(options.folder())
    figures = Figures("scifact")
    questions = data.questions[: options.queries]
    async with running_stack() as stack:
        figures.put("ingest_s", await ingest(stack, data.documents), "s")
        for mode in modes:
            answers = await ask(stack.addresses["gateway"], mode, questions)
            pairs = zip(answers.rankings, questions, strict=True)
            gain = mean([ndcg_at(ranked, question.relevance, 10) for ranked, question in pairs])
            figures.put(f"{mode}.ndcg@10", gain, "ratio")
            figures.put(f"{mode}.p50_ms", answers.p50_ms, "ms")
