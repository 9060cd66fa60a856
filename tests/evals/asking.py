"""Asks questions over HTTP, one after the other, and keeps which documents came back and how fast."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

from tests.benchmarks.command import MeasureError, UsageError
from tests.benchmarks.harness import bar
from tests.benchmarks.web import WebClient
from tests.evals.datasets import Question
from tests.evals.metrics import distinct, percentile

LIMIT = 10
MODES = ("vector", "text", "hybrid", "comprehensive")
_WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Answers:
    """Ranked document ids of each question, and what each call took in milliseconds."""

    rankings: list[list[str]]
    times_ms: list[float]

    @property
    def p50_ms(self) -> float:
        """The middle call."""
        return percentile(self.times_ms, 50)


def chosen_modes(mode: str) -> Sequence[str]:
    """The search modes that MODE names. UsageError for an unknown one."""
    if mode == "all":
        return MODES
    if mode not in MODES:
        raise UsageError(f"no mode is called {mode!r}; there are: all, {', '.join(MODES)}")
    return (mode,)


async def ask(address: str, mode: str, questions: Sequence[Question]) -> Answers:
    """Ask every question in `mode` at the gateway's address; MeasureError when one fails."""
    stopped = Event()
    try:
        return await asyncio.to_thread(_ask, address, mode, questions, stopped)
    finally:
        stopped.set()


def _ask(address: str, mode: str, questions: Sequence[Question], stopped: Event) -> Answers:
    answers = Answers([], [])
    with WebClient(address) as client, bar(mode, len(questions)) as show:
        for number in range(_WARM_UP):
            _one(client, mode, f"warm-up {number} of the mode {mode}")
        for question in questions:
            if stopped.is_set():
                break
            began = time.perf_counter()
            answer = _one(client, mode, question.text)
            answers.times_ms.append((time.perf_counter() - began) * 1000)
            answers.rankings.append(ranked_documents(answer))
            show(len(answers.rankings))
    return answers


def _one(client: WebClient, mode: str, text: str) -> dict[str, Any]:
    answer = client.post(f"/api/search/{mode}", {"query": text, "limit": LIMIT})
    for leg in answer.get("legs", []):
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
