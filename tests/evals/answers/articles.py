"""Measures the agent's answers about a folder of documents: `corpus.jsonl.gz` and `questions.jsonl.gz`.

Each document {id, title, text} is ingested as Markdown under its id. A question {question, expected, documents, kind}
is `answerable`, a `near_miss` (on the subject, but nothing answers it) or `foreign` (about something else).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gateway.cli.ingest.files import File
from gateway.content_types import CONTENT_TYPES
from services.agent_orchestrator.agent.planner.answers import says_nothing_answers
from tests.benchmarks.command import Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import running_stack
from tests.evals.datasets import read_rows
from tests.evals.loading import load
from tests.evals.metrics import percentile, share
from tests.evals.sample_stack import TimedAnswer, chat_timed

CORPUS: Final = "corpus.jsonl.gz"
QUESTIONS: Final = "questions.jsonl.gz"
_KINDS: Final = ("answerable", "near_miss", "foreign")
# A quotation with the number of its source.
_QUOTED: Final = re.compile(r"“([^“]*?)” \[\d+\]")


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's labels and its answer."""

    row: Mapping[str, Any]
    answer: str
    quotes: Sequence[str]

    @property
    def says_nothing_answers(self) -> bool:
        """Returns whether the answer says that nothing answers the question."""
        return says_nothing_answers(self.answer)

    @property
    def is_correct(self) -> bool:
        """Returns whether an expected string stands anywhere in the answer."""
        return contains(self.answer, self.row["expected"])

    @property
    def is_first_correct(self) -> bool:
        """Returns whether an expected string stands in the first quotation that is cited, or in the first citation."""
        quoted = _QUOTED.findall(self.answer) or list(self.quotes)
        return bool(quoted) and contains(quoted[0], self.row["expected"])


async def measure_articles(options: Options) -> None:
    """Ingests the documents, asks every question in a conversation of its own, and judges the answers."""
    folder = options.folder()
    rows = list(read_rows(folder, QUESTIONS))[: options.queries]
    if any(row.get("kind") not in _KINDS for row in rows):
        raise UsageError(f"{folder / QUESTIONS}: kind must be one of {', '.join(_KINDS)}")
    async with running_stack() as stack:
        with tempfile.TemporaryDirectory(prefix="braid-answers-") as place:
            await load(stack, _written(Path(place), folder), "")
        answers = await chat_timed(stack, [str(row["question"]) for row in rows])
    judged = [
        Judged(row, one.answer["answer"], [cited["quote"] for cited in one.answer["citations"]])
        for row, one in zip(rows, answers, strict=True)
    ]
    _note_faults(judged)
    _put_figures(Figures(options.name), judged, answers)


def contains(text: str, statements: Sequence[str]) -> bool:
    """Returns whether one of the statements stands in a text; case, white space and punctuation are ignored."""
    squeezed = _squeezed(text)
    return any(_squeezed(statement) in squeezed for statement in statements)


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _written(place: Path, folder: Path) -> list[File]:
    sources = []
    for row in read_rows(folder, CORPUS):
        path = place / str(row["id"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {row['title']}\n\n{row['text']}\n", encoding="utf-8")
        sources.append(File(path, str(row["id"]), CONTENT_TYPES[".md"]))
    return sources


def _put_figures(
    figures: Figures, judged: Sequence[Judged], answers: Sequence[TimedAnswer]
) -> None:
    of_kind = {kind: [one for one in judged if one.row["kind"] == kind] for kind in _KINDS}
    if answerable := of_kind["answerable"]:
        figures.put(
            "first_correct_pct", share([one.is_first_correct for one in answerable]), "percent"
        )
        figures.put("correct_pct", share([one.is_correct for one in answerable]), "percent")
        words = [float(len(one.answer.split())) for one in answerable]
        figures.put("words_p50", percentile(words, 50), "words")
        refused = [one.says_nothing_answers for one in answerable]
        figures.put("answerable_refused_pct", share(refused), "percent")
    for kind in ("foreign", "near_miss"):
        if of_kind[kind]:
            said = [one.says_nothing_answers for one in of_kind[kind]]
            figures.put(f"{kind}_said_pct", share(said), "percent")
    figures.put("ask_p50_ms", percentile([one.took_ms for one in answers], 50), "ms")
    figures.put("questions", len(judged), "questions")


def _note_faults(judged: Sequence[Judged]) -> None:
    for one in judged:
        kind = one.row["kind"]
        fine = one.is_first_correct if kind == "answerable" else one.says_nothing_answers
        if not fine and kind != "near_miss":
            note(f"{kind}: {one.row['question']!r} expects {one.row['expected']}: {one.answer!r}")
