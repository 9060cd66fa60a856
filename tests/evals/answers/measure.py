"""Measures the agent's answers about the sample corpus: `{"question","expected","documents","as_of"}` per line.

An answer is correct if it contains one of the expected statements. A citation is correct if its quotation contains one,
or its document is listed. If both lists are empty the question is unanswerable, and the answer has to say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from services.agent_orchestrator.agent.planner.answers import says_nothing_answers
from services.agent_orchestrator.agent.planner.dates.expressions import find_times
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.evals.answers.articles import CORPUS, contains, measure_articles
from tests.evals.metrics import share
from tests.evals.question_files import question_rows
from tests.evals.sample_stack import chat_all, sample_stack

OWN: Final = Path(__file__).parent / "questions.jsonl"


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's labels and its answer."""

    row: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def is_answerable(self) -> bool:
        """Returns whether the corpus answers the question."""
        return bool(self.row["expected"] or self.row["documents"])

    @property
    def says_nothing_answers(self) -> bool:
        """Returns whether the answer says that nothing answers the question, and cites nothing."""
        return says_nothing_answers(self.answer["answer"]) and not self.answer["citations"]

    @property
    def is_correct(self) -> bool:
        """Returns whether the answer contains an expected statement."""
        return contains(self.answer["answer"], self.row["expected"])

    @property
    def is_uncited(self) -> bool:
        """Returns whether the answer has no citation although it does not say that nothing answers."""
        return not self.answer["citations"] and not self.says_nothing_answers

    @property
    def right_citations(self) -> list[bool]:
        """Returns for each citation whether it supports the expected answer."""
        return [
            contains(cited["quote"], self.row["expected"])
            or cited["document_id"] in self.row["documents"]
            for cited in self.answer["citations"]
        ]


async def run(options: Options) -> None:
    """Asks every question and judges the answers: about the sample, or about the folder's documents if it has some."""
    if options.data is not None and (options.data / CORPUS).is_file():
        await measure_articles(options)
        return
    rows = question_rows(options.data, OWN)[: options.queries]
    async with sample_stack() as stack:
        answers = await chat_all(stack, [asked(row) for row in rows])
    judged = [Judged(row, answer) for row, answer in zip(rows, answers, strict=True)]
    _note_faults(judged)
    put_figures(Figures(options.name), judged)


def asked(row: Mapping[str, Any]) -> str:
    """Returns the question, with its day added if it does not name a time itself."""
    question, as_of = str(row["question"]), row.get("as_of")
    if not as_of or find_times(question, datetime.now(UTC), UTC):
        return question
    return f"As of {as_of}: {question}"


def put_figures(figures: Figures, judged: Sequence[Judged]) -> None:
    """Prints the shares of answers that are cited, correct, and correctly unanswered."""
    answerable = [one for one in judged if one.is_answerable]
    others = [one for one in judged if not one.is_answerable]
    citations = [right for one in answerable for right in one.right_citations]
    figures.put("uncited", sum(one.is_uncited for one in judged), "answers")
    if citations:
        figures.put("citation_precision_pct", share(citations), "percent")
    if answerable:
        figures.put("correct_pct", share([one.is_correct for one in answerable]), "percent")
    if others:
        said = [one.says_nothing_answers for one in others]
        figures.put("unanswerable_pct", share(said), "percent")
    figures.put("questions", len(judged), "questions")


def _note_faults(judged: Sequence[Judged]) -> None:
    for one in judged:
        fine = one.is_correct if one.is_answerable else one.says_nothing_answers
        if not fine or one.is_uncited or not all(one.right_citations):
            called = [call["tool"] for call in one.answer["tool_calls"]]
            cited = [cited["document_id"] for cited in one.answer["citations"]]
            note(f"{one.row['question']!r} expects {one.row['expected']}")
            note(f"    {called} gave {cited}: {one.answer['answer']!r}")
