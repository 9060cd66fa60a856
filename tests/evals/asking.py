"""Asks questions over HTTP, one after the other, and keeps which documents came back and how fast."""

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
# What a mode asks for: the search, and what its body says beyond the question.
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
    """Ranked document ids of each question, what each call took in milliseconds, and how each list was expanded."""

    rankings: list[list[str]]
    times_ms: list[float]
    expansions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def p50_ms(self) -> float:
        """The middle call."""
        return percentile(self.times_ms, 50)


def chosen_modes(mode: str, modes: Sequence[str] = UNEXPANDED_MODES) -> Sequence[str]:
    """The search modes that MODE names. UsageError for an unknown one."""
    if mode == "all":
        return modes
    if mode not in modes:
        raise UsageError(f"no mode is called {mode!r}; there are: all, {', '.join(modes)}")
    return (mode,)


async def ask(address: str, mode: str, questions: Sequence[Question]) -> Answers:
    """Ask every question in `mode` at the gateway's address; MeasureError when one fails."""
    stopped = Event()
    try:
        return await asyncio.to_thread(_ask, address, mode, questions, stopped)
    finally:
        stopped.set()


async def ask_all(
    address: str, mode: str, questions: Sequence[tuple[str, str | None]], *, limit: int = LIMIT
) -> list[dict[str, Any]]:
    """The whole answers to questions, each with the day that it is about. MeasureError when one fails."""
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
    """One search's answer. MeasureError when a leg or its expansion could not look."""
    name, options = _SEARCHES[mode]
    body = {"query": text, "limit": limit, "as_of": as_of, **options}
    answer = client.post(f"/api/search/{name}", body)
    step = answer.get("expansion")
    steps = [] if step is None else [{"name": "expansion", **step}]
    for leg in [*answer.get("legs", []), *steps]:
        # A leg that could not look would make a figure of something else than the mode's name says.
        if leg["status"].upper() not in {"OK", "NO_MATCH"}:
            raise MeasureError(f"{mode}: the leg {leg['name']} is {leg['status']}, {leg['reason']}")
    return answer


def ranked_documents(answer: dict[str, Any]) -> list[str]:
    """Document ids of a search's results, each at its best rank.

    A result without a document keeps its place under its own id: it took the place of one.
    """
    return distinct(
        hit.get("document_id") or f"no document: {hit['id']}" for hit in answer["results"]
    )
