"""The whole stack with the sample corpus, and questions to its agent over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
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


async def chat_all(stack: LocalStack, questions: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the responses of `POST /api/chat`, one conversation per question. Raises MeasureError if one fails."""
    stopped = Event()
    try:
        return await asyncio.to_thread(_chat, stack.addresses["gateway"], questions, stopped)
    finally:
        stopped.set()


def _chat(address: str, questions: Sequence[str], stopped: Event) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    with WebClient(address, timeout=_SECONDS) as client, bar("asking", len(questions)) as show:
        for question in questions:
            if stopped.is_set():
                break
            answers.append(client.post("/api/chat", {"question": question}))
            show(len(answers))
    return answers
