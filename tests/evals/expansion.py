"""Measures what expansion changes in hybrid search: recall, precision, time, and share of relations used."""

from __future__ import annotations

from collections.abc import Sequence

from tests.benchmarks.command import Options, UsageError
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import running_stack
from tests.evals.asking import Answers, ask
from tests.evals.datasets import Question, read_multihop
from tests.evals.ingestion import ingest
from tests.evals.metrics import mean, percentile, precision_at, recall_at
from tests.evals.related import relate

SHARED = "multihop/musique_train100"
BASELINE = "hybrid"
MODES = ("formula", "query_aware")
_RECALL_AT = 5
_PRECISION_AT = 3


async def run(options: Options) -> None:
    """Asks every question with and without expansion, over one corpus."""
    if options.mode not in ("all", *MODES):
        raise UsageError(f"--mode takes all, or one of {', '.join(MODES)}")
    modes = MODES if options.mode == "all" else (options.mode,)
    data = read_multihop(options.folder())
    questions = data.questions[: options.queries]
    figures = Figures("expansion")
    async with running_stack() as stack:
        await ingest(stack, data.documents)
        await relate(stack, data.documents)
        address = stack.addresses["gateway"]
        baseline = await ask(address, BASELINE, questions)
        figures.put(
            f"{BASELINE}.recall@{_RECALL_AT}", 100 * _recall(questions, baseline), "percent"
        )
        for mode in modes:
            _put(figures, mode, questions, baseline, await ask(address, mode, questions))


def _put(
    figures: Figures, mode: str, questions: Sequence[Question], baseline: Answers, answers: Answers
) -> None:
    recall, before = _recall(questions, answers), _recall(questions, baseline)
    figures.put(f"{mode}.recall@{_RECALL_AT}", 100 * recall, "percent")
    figures.put(f"{mode}.recall_gain_pct", 100 * (recall / before - 1), "percent")
    kept = _precision(questions, answers) / _precision(questions, baseline)
    figures.put(f"{mode}.precision_pct_of_baseline", 100 * kept, "percent")
    overheads = [one["overhead_ms"] for one in answers.expansions]
    figures.put(f"{mode}.overhead_p50_ms", percentile(overheads, 50), "ms")
    figures.put(f"{mode}.overhead_p95_ms", percentile(overheads, 95), "ms")
    used = mean([one["utilisation"] for one in answers.expansions])
    figures.put(f"{mode}.utilisation_pct", 100 * used, "percent")


def _recall(questions: Sequence[Question], answers: Answers) -> float:
    pairs = zip(answers.rankings, questions, strict=True)
    return mean([recall_at(ranked, question.relevance, _RECALL_AT) for ranked, question in pairs])


def _precision(questions: Sequence[Question], answers: Answers) -> float:
    pairs = zip(answers.rankings, questions, strict=True)
    return mean(
        [precision_at(ranked, question.relevance, _PRECISION_AT) for ranked, question in pairs]
    )
