"""Measures the agent with the local planner: overhead outside its tools, first event, 50 concurrent conversations."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import grpc

import deploy.local
from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.benchmarks.web import WebClient
from tests.evals.datasets import Document
from tests.evals.ingestion import ingest
from tests.evals.metrics import percentile

CONVERSATIONS = 50
TURNS = 2
QUESTIONS = 100
_WARM = 5
_DEADLINE = 120.0
_SAMPLE = Path(deploy.local.__file__).parent / "sample"


@dataclass(frozen=True, slots=True)
class Asked:
    """The times of one question in milliseconds: until the first event, until the end, and in tools."""

    first_ms: float
    whole_ms: float
    tools_ms: float

    @property
    def overhead_ms(self) -> float:
        """Returns the time spent outside the tools."""
        return self.whole_ms - self.tools_ms


async def run(options: Options) -> None:
    """Ingests the sample, asks questions one after another, then in 50 concurrent conversations."""
    figures = Figures(options.name)
    questions = _questions()
    async with running_stack() as stack:
        await ingest(stack, _documents())
        await asyncio.to_thread(_add_facts, stack)
        async with channel_to(stack, "agent_orchestrator") as channel:
            stub = agent_pb2_grpc.AgentServiceStub(channel)
            alone = await _one_by_one(stub, questions, options.queries or QUESTIONS)
            failed, crowd = await _at_once(stub, questions)
            failed += (options.queries or QUESTIONS) - len(alone)
    figures.put("overhead_p50_ms", percentile([one.overhead_ms for one in alone], 50), "ms")
    figures.put("overhead_p95_ms", percentile([one.overhead_ms for one in alone], 95), "ms")
    figures.put("first_event_p50_ms", percentile([one.first_ms for one in alone], 50), "ms")
    figures.put("first_event_p95_ms", percentile([one.first_ms for one in alone], 95), "ms")
    figures.put("answer_p50_ms", percentile([one.whole_ms for one in alone], 50), "ms")
    asked = (options.queries or QUESTIONS) + CONVERSATIONS * TURNS
    figures.put("failed", failed, f"of {asked}")
    if crowd:
        whole = [one.whole_ms for one in crowd]
        figures.put(f"answer_p50_ms@{CONVERSATIONS}", percentile(whole, 50), "ms")
        figures.put(f"answer_p95_ms@{CONVERSATIONS}", percentile(whole, 95), "ms")


async def _one_by_one(
    stub: agent_pb2_grpc.AgentServiceStub, questions: Sequence[str], count: int
) -> list[Asked]:
    for question in questions[:_WARM]:
        with suppress(MeasureError):
            await _ask(stub, question)
    asked = []
    with bar("questions, one after another", count) as show:
        for number in range(count):
            try:
                asked.append(await _ask(stub, questions[number % len(questions)]))
            except MeasureError as error:
                note(f"question {number}: {error}")
            show(number + 1)
    if not asked:
        raise MeasureError("no question was answered")
    return asked


async def _at_once(
    stub: agent_pb2_grpc.AgentServiceStub, questions: Sequence[str]
) -> tuple[int, list[Asked]]:
    note(f"{CONVERSATIONS} conversations at once, {TURNS} questions each")
    outcomes = await asyncio.gather(
        *(_converse(stub, questions, number) for number in range(CONVERSATIONS))
    )
    answered = [one for outcome in outcomes for one in outcome]
    return CONVERSATIONS * TURNS - len(answered), answered


async def _converse(
    stub: agent_pb2_grpc.AgentServiceStub, questions: Sequence[str], number: int
) -> list[Asked]:
    """Runs one conversation; returns the answered questions."""
    answered: list[Asked] = []
    try:
        made = await stub.CreateConversation(
            agent_pb2.CreateConversationRequest(), timeout=_DEADLINE
        )
        for turn in range(TURNS):
            question = questions[(number * TURNS + turn) % len(questions)]
            answered.append(await _ask(stub, question, made.conversation.id))
    except (grpc.aio.AioRpcError, MeasureError) as error:
        note(f"conversation {number}: {error}")
    return answered


async def _ask(
    stub: agent_pb2_grpc.AgentServiceStub, question: str, conversation_id: str = ""
) -> Asked:
    """Asks and reads to the end. Raises MeasureError if the answer is incomplete or a part is unavailable."""
    request = agent_pb2.AskRequest(question=question, conversation_id=conversation_id)
    began = time.perf_counter()
    first = tools = 0.0
    last: agent_pb2.RunEvent | None = None
    async for answer in stub.Ask(request, timeout=_DEADLINE):
        last = answer.event
        first = first or time.perf_counter() - began
        if last.HasField("usage"):
            tools = last.usage.tool_elapsed.ToTimedelta().total_seconds()
    whole = time.perf_counter() - began
    if last is None or not last.HasField("done"):
        raise MeasureError(f"no answer: {last}")
    if last.done.unavailable:
        raise MeasureError(f"unavailable: {', '.join(last.done.unavailable)}")
    return Asked(1000 * first, 1000 * whole, 1000 * tools)


def _questions() -> list[str]:
    with (_SAMPLE / "questions.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(text)["question"] for text in lines]


def _documents() -> list[Document]:
    return [
        Document(path.name, path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(_SAMPLE.glob("*.md"))
    ]


def _add_facts(stack: LocalStack) -> None:
    lines = (_SAMPLE / "facts.jsonl").read_text(encoding="utf-8").splitlines()
    with WebClient(stack.addresses["gateway"], timeout=120) as client:
        client.post("/api/facts", {"facts": [json.loads(text) for text in lines if text]})
