"""The whole stack with the sample corpus, and questions to its agent over HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

from deploy.local.stack import LocalStack
from gateway.cli.sample import Sample, put_sample_ontology
from tests.benchmarks.harness import bar, running_stack
from tests.benchmarks.web import WebClient
from tests.evals.labelled import FACTS
from tests.evals.loading import load

_SECONDS = 120.0


@asynccontextmanager
async def sample_stack() -> AsyncIterator[LocalStack]:
    """Runs the stack with the sample's ontology, documents and facts."""
    sample = Sample.of_the_stack()
    async with running_stack() as stack:
        await put_sample_ontology(stack.addresses["graph_query"], sample)
        await load(stack, list(sample.sources()), FACTS)
        yield stack


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """The response of `POST /api/chat`, and how long it took."""

    answer: dict[str, Any]
    took_ms: float


async def chat_all(stack: LocalStack, questions: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the responses of `POST /api/chat`, one conversation per question. Raises MeasureError if one fails."""
    return [one.answer for one in await chat_timed(stack, questions)]


async def chat_timed(stack: LocalStack, questions: Sequence[str]) -> list[TimedAnswer]:
    """Returns the responses of `POST /api/chat` with their times. Raises MeasureError if one fails."""
    stopped = Event()
    try:
        return await asyncio.to_thread(_chat, stack.addresses["gateway"], questions, stopped)
    finally:
        stopped.set()


def _chat(address: str, questions: Sequence[str], stopped: Event) -> list[TimedAnswer]:
    answers: list[TimedAnswer] = []
    with WebClient(address, timeout=_SECONDS) as client, bar("asking", len(questions)) as show:
        for question in questions:
            if stopped.is_set():
                break
            began = time.perf_counter()
            answer = client.post("/api/chat", {"question": question})
            answers.append(TimedAnswer(answer, (time.perf_counter() - began) * 1000))
            show(len(answers))
    return answers
