"""The figures of an evaluation: recall, rank, right answers and citations, and what was said where nothing answers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from gateway.cli.evaluation.questions import EvalQuestion

# What a higher value of a figure means: better, worse, or neither.
HIGHER_IS_WORSE: Final = ("p50_ms", "refused_pct")

Json = Mapping[str, Any]


_NO_LETTERS: Final = re.compile(r"[\W_]+")


@dataclass(slots=True)
class Measured:
    """What one setting returned: the response of each search by its mode, and of each answer, with milliseconds."""

    searches: dict[str, list[Json]] = field(default_factory=dict)
    answers: list[Json] = field(default_factory=list)
    times_ms: dict[str, list[float]] = field(default_factory=dict)


def figures_of(questions: Sequence[EvalQuestion], measured: Measured, k: int) -> dict[str, float]:
    """Returns the figures of a setting, in the order in which they are shown; percentages are 0 to 100."""
    found: dict[str, float] = {}
    for mode, responses in measured.searches.items():
        pairs = list(zip(questions, responses, strict=True))
        ranked = [
            (question, documents_of(response)) for question, response in pairs if question.documents
        ]
        _put(found, f"{mode}.recall@{k}", [100 * _recall(*one, k) for one in ranked])
        _put(found, f"{mode}.mrr", [_reciprocal_rank(*one) for one in ranked])
        none = [100.0 * (not response["results"]) for question, response in pairs if question.none]
        _put(found, f"{mode}.said_none_pct", none)
        _put(found, f"{mode}.p50_ms", measured.times_ms[mode], median)
    if measured.answers:
        _put_answers(found, questions, measured)
    return found


def _put_answers(
    found: dict[str, float], questions: Sequence[EvalQuestion], measured: Measured
) -> None:
    pairs = list(zip(questions, measured.answers, strict=True))
    expecting = [pair for pair in pairs if pair[0].expected]
    answerable = [pair for pair in pairs if not pair[0].none]
    nothing = [pair for pair in pairs if pair[0].none]
    _put(found, "answers.right_pct", [100.0 * is_right(*pair) for pair in expecting])
    cited = [right for pair in answerable for right in right_citations(*pair)]
    _put(found, "answers.citations_right_pct", [100.0 * right for right in cited])
    _put(found, "answers.refused_pct", [100.0 * says_none(pair[1]) for pair in answerable])
    _put(found, "answers.said_none_pct", [100.0 * says_none(pair[1]) for pair in nothing])
    _put(found, "answers.p50_ms", measured.times_ms["answers"], median)


def documents_of(response: Json) -> list[tuple[str, str]]:
    """Returns the ids and titles of the documents in a search's response, each at its best rank.

    A fact stands for the documents that it cites.
    """
    named = [one for hit in response["results"] for one in _named(hit)]
    return list(dict.fromkeys(one for one in named if any(one)))


def _named(hit: Json) -> list[tuple[str, str]]:
    if "document_id" in hit:
        return [(hit["document_id"] or "", hit["title"] or "")]
    return [(one["document_id"] or "", one["document_title"] or "") for one in hit["sources"]]


def is_right(question: EvalQuestion, answer: Json) -> bool:
    """Returns whether an expected statement stands in the answer; case, white space and punctuation are ignored."""
    return _holds(answer["answer"], question.expected)


def right_citations(question: EvalQuestion, answer: Json) -> list[bool]:
    """Returns for each citation whether it quotes an expected statement or is of a document that answers."""
    return [
        _holds(cited["quote"], question.expected)
        or question.names(cited["document_id"] or "", cited["title"] or "")
        for cited in answer["citations"]
    ]


def says_none(answer: Json) -> bool:
    """Returns whether an answer cites nothing: it says that nothing was found."""
    return not answer["citations"]


def _recall(question: EvalQuestion, ranked: Sequence[tuple[str, str]], k: int) -> float:
    """Returns the share of the wanted documents among the first `k`."""
    first = ranked[:k]
    found = [
        any(question.found(pattern, *document) for document in first)
        for pattern in question.documents
    ]
    return sum(found) / len(found)


def _reciprocal_rank(question: EvalQuestion, ranked: Sequence[tuple[str, str]]) -> float:
    places = (place for place, one in enumerate(ranked, start=1) if question.names(*one))
    return next((1 / place for place in places), 0.0)


def _holds(text: str, statements: Sequence[str]) -> bool:
    squeezed = _squeezed(text)
    return any(_squeezed(statement) in squeezed for statement in statements)


def _squeezed(text: str) -> str:
    return _NO_LETTERS.sub("", text.casefold())


def _put(found: dict[str, float], name: str, values: Sequence[float], of: Any = None) -> None:
    """Adds a figure: the mean of some values, or another statistic; nothing without values."""
    if values:
        found[name] = float(of(values)) if of is not None else math.fsum(values) / len(values)


def is_worse(name: str, first: float, second: float, tolerance: float) -> bool:
    """Returns whether a figure of the second setting is worse than the first's by more than `tolerance` percent."""
    allowed = abs(first) * tolerance / 100
    if name.rpartition(".")[2] in HIGHER_IS_WORSE:
        return second > first + allowed
    return second < first - allowed
