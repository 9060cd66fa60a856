"""Measures a labeled set in several modes: ranks of the right document and fact, and answers without a match."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import running_stack
from tests.evals.asking import LIMIT, ask_all, chosen_modes
from tests.evals.foreign import COMPARED
from tests.evals.labelled import FACTS, LabelledQuestion, read_labelled_set
from tests.evals.loading import load
from tests.evals.metrics import is_limit_stable, mean, reciprocal_rank, share

# The list of each of these limits must be a prefix of the list of the largest.
LIMITS = (1, 3, 5, LIMIT, 20)
_NO_MATCH = "NO_MATCH"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the response of a mode at each limit."""

    question: LabelledQuestion
    answers: Mapping[int, dict[str, Any]]

    @property
    def answer(self) -> dict[str, Any]:
        """Returns the response that is scored."""
        return self.answers[LIMIT]

    @property
    def document_rank(self) -> float:
        """Returns the reciprocal rank of the answering document."""
        pattern = self.question.doc
        return reciprocal_rank(
            pattern is not None and _is_document(pattern, hit) for hit in self.answer["results"]
        )

    @property
    def fact_rank(self) -> float:
        """Returns the reciprocal rank of the answering fact among the response's facts."""
        pattern = self.question.fact
        return reciprocal_rank(
            pattern is not None and pattern.search(fact["fact"]) is not None
            for fact in self.answer.get("graph_results", [])
        )

    @property
    def is_none(self) -> bool:
        """Returns whether the response says that nothing matches: an empty list, and no match in any leg."""
        legs = self.answer["legs"]
        return not self.answer["results"] and all(leg["status"] == _NO_MATCH for leg in legs)

    def is_stable(self, name: str = "results") -> bool:
        """Returns whether the first entries of the list `name` are independent of the limit."""
        lists = {n: [_id(hit) for hit in one.get(name, [])] for n, one in self.answers.items()}
        return is_limit_stable(lists)


async def measure_labelled(options: Options) -> None:
    """Loads the folder, asks every question in every mode, and prints the figures of each mode."""
    modes = COMPARED if options.mode == "all" else chosen_modes(options.mode)
    data = read_labelled_set(options.folder())
    questions = data.questions[: options.queries]
    pairs = [(question.text, question.as_of) for question in questions]
    figures = Figures("relevance")
    asked: dict[str, list[Asked]] = {}
    async with running_stack() as stack:
        figures.put("facts_refused", await load(stack, data.sources, FACTS), "facts")
        for mode in modes:
            address = stack.addresses["gateway"]
            answers = {n: await ask_all(address, mode, pairs, limit=n) for n in LIMITS}
            asked[mode] = [
                Asked(question, {n: answers[n][place] for n in LIMITS})
                for place, question in enumerate(questions)
            ]
    for mode, found in asked.items():
        put_ranks(figures, mode, found)
        # Figures without a mode's name belong to the comprehensive search.
        put_none(figures, "" if mode == "comprehensive" else f"{mode}.", found)
    if "comprehensive" in asked:
        put_facts(figures, asked["comprehensive"])
    if asked.keys() >= set(COMPARED):
        _note_losses(asked["hybrid"], asked["comprehensive"])


def put_ranks(figures: Figures, mode: str, asked: Sequence[Asked]) -> None:
    """Prints the mean reciprocal rank of the answering documents, in total and of each category."""
    ranks: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        if one.question.doc is not None:
            ranks[one.question.category].append(one.document_rank)
    if ranks:
        every = [rank for some in ranks.values() for rank in some]
        figures.put(f"{mode}.mrr", mean(every), "ratio")
    for category in sorted(ranks):
        name = re.sub(r"\s+", "_", category)
        figures.put(f"{mode}.mrr.{name}", mean(ranks[category]), "ratio")


def put_none(figures: Figures, prefix: str, asked: Sequence[Asked]) -> None:
    """Prints how many unknown, answerable and near-miss questions get no match, and how many lists are stable."""
    for name, chosen in (
        ("none_answered_pct", [one for one in asked if one.question.is_unknown]),
        ("answered_said_none_pct", [one for one in asked if one.question.is_answerable]),
        ("near_miss_said_none_pct", [one for one in asked if one.question.is_near_miss]),
    ):
        if chosen:
            figures.put(f"{prefix}{name}", share([one.is_none for one in chosen]), "percent")
    figures.put(f"{prefix}limit_stable_pct", share([one.is_stable() for one in asked]), "percent")


def put_facts(figures: Figures, asked: Sequence[Asked]) -> None:
    """Prints the ranks of the expected facts among the responses' facts."""
    ranks = [one.fact_rank for one in asked if one.question.fact is not None]
    if ranks:
        figures.put("fact.mrr", mean(ranks), "ratio")
        figures.put("fact.first_pct", share([rank == 1 for rank in ranks]), "percent")
    stable = [one.is_stable("graph_results") for one in asked]
    figures.put("fact.limit_stable_pct", share(stable), "percent")


def _id(entry: dict[str, Any]) -> str:
    """Returns the id of an entry; for facts it is the uuid."""
    return str(entry.get("id") or entry["uuid"])


def _is_document(pattern: re.Pattern[str], hit: dict[str, Any]) -> bool:
    names = (hit.get("document_id") or "", hit.get("title") or "")
    return any(pattern.search(name) for name in names)


def _note_losses(hybrid: Sequence[Asked], fused: Sequence[Asked]) -> None:
    """Prints to standard error which questions the comprehensive search answers worse than hybrid, or wrongly."""
    for alone, one in zip(hybrid, fused, strict=True):
        question, problems = one.question, []
        if one.document_rank < alone.document_rank:
            problems.append(f"1/rank {one.document_rank:.2f}, hybrid {alone.document_rank:.2f}")
        if question.fact is not None and one.fact_rank < 1:
            problems.append(f"fact at 1/rank {one.fact_rank:.2f}")
        if question.is_unknown and not one.is_none:
            problems.append("not said to have no match")
        if question.is_answerable and one.is_none:
            problems.append("said to have no match")
        if not one.is_stable():
            problems.append("depends on the limit")
        if problems:
            note(f"{question.category}: {question.text!r}: {'; '.join(problems)}")
