"""Asks questions over HTTP, one after another; records the returned documents and the times."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from tests.benchmarks.command import MeasureError, UsageError
from tests.benchmarks.harness import bar
from tests.benchmarks.web import WebClient
from tests.evals.datasets import Question
from tests.evals.metrics import distinct, percentile

LIMIT = 10
# The search of each mode, and the fields of its body besides the question.
_SEARCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "vector": ("vector", {}),
    "text": ("text", {}),
    "hybrid": ("hybrid", {}),
    "comprehensive": ("comprehensive", {}),
    "formula": ("hybrid", {"expansion": "formula"}),
    "query_aware": ("hybrid", {"expansion": "query_aware"}),
    "pagerank": ("hybrid", {"expansion": "pagerank"}),
}
MODES = tuple(_SEARCHES)
UNEXPANDED_MODES = ("vector", "text", "hybrid", "comprehensive")
_WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Answers:
    """The ranked document ids of each question, the milliseconds of each call, and the reports of expansions."""

    rankings: list[list[str]]
    times_ms: list[float]
    expansions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def p50_ms(self) -> float:
        """Returns the median time."""
        return percentile(self.times_ms, 50)


def chosen_modes(mode: str, modes: Sequence[str] = UNEXPANDED_MODES) -> Sequence[str]:
    """Returns the search modes that MODE names. Raises UsageError for an unknown one."""
    if mode == "all":
        return modes
    if mode not in modes:
        raise UsageError(f"no mode is called {mode!r}; there are: all, {', '.join(modes)}")
    return (mode,)


async def ask(address: str, mode: str, questions: Sequence[Question]) -> Answers:
    """Asks every question in `mode` at the gateway's address. Raises MeasureError if one fails."""
    stopped = Event()
    try:
        return await asyncio.to_thread(_ask, address, mode, questions, stopped)
    finally:
        stopped.set()


async def ask_all(
    address: str, mode: str, questions: Sequence[tuple[str, str | None]], *, limit: int = LIMIT
) -> list[dict[str, Any]]:
    """Returns the complete responses to questions with their days. Raises MeasureError if one fails."""
    stopped = Event()
    try:
        return await asyncio.to_thread(_ask_all, address, mode, questions, limit, stopped)
    finally:
        stopped.set()


def _ask_all(
    address: str,
    mode: str,
    questions: Sequence[tuple[str, str | None]],
    limit: int,
    stopped: Event,
) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    with WebClient(address) as client, bar(f"{mode}, {limit}", len(questions)) as show:
        for text, as_of in questions:
            if stopped.is_set():
                break
            answers.append(search(client, mode, text, limit=limit, as_of=as_of))
            show(len(answers))
    return answers


def _ask(address: str, mode: str, questions: Sequence[Question], stopped: Event) -> Answers:
    answers = Answers([], [])
    with WebClient(address) as client, bar(mode, len(questions)) as show:
        for number in range(_WARM_UP):
            search(client, mode, f"warm-up {number} of the mode {mode}")
        for question in questions:
            if stopped.is_set():
                break
            began = time.perf_counter()
            answer = search(client, mode, question.text)
            answers.times_ms.append((time.perf_counter() - began) * 1000)
            answers.rankings.append(ranked_documents(answer))
            if answer.get("expansion"):
                answers.expansions.append(answer["expansion"])
            show(len(answers.rankings))
    return answers


def search(
    client: WebClient, mode: str, text: str, *, limit: int = LIMIT, as_of: str | None = None
) -> dict[str, Any]:
    """Returns the response of one search. Raises MeasureError if a leg or the expansion failed."""
    name, options = _SEARCHES[mode]
    body = {"query": text, "limit": limit, "as_of": as_of, **options}
    answer = client.post(f"/api/search/{name}", body)
    step = answer.get("expansion")
    steps = [] if step is None else [{"name": "expansion", **step}]
    for leg in [*answer.get("legs", []), *steps]:
        # Without a leg, the figure would not measure what the mode's name says.
        if leg["status"].upper() not in {"OK", "NO_MATCH"}:
            raise MeasureError(f"{mode}: the leg {leg['name']} is {leg['status']}, {leg['reason']}")
    return answer


def ranked_documents(answer: dict[str, Any]) -> list[str]:
    """Returns the document ids of a search's results, each at its best rank.

    A result without a document keeps its rank under its own id, because it displaced a document.
    """
    return distinct(
        hit.get("document_id") or f"no document: {hit['id']}" for hit in answer["results"]
    )
