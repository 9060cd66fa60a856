"""Sends pumped texts through every RPC, REST route and MCP tool that takes text, and watches the other callers."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

import httpx2

from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, running_stack, temporary_data
from tests.benchmarks.hostile.waiting import waits_of
from tests.benchmarks.isolation.detector import NOT_SENT
from tests.benchmarks.isolation.interfaces import Operation, open_operations, outcome_of
from tests.benchmarks.isolation.people import Person, issue_keys
from tests.benchmarks.isolation.values import Given
from tests.pumps import general_pumps
from tests.stubs.openai_server import OpenAIStub

MIN_CASES = 300
# The lengths that names, titles and questions may have: one of them is accepted by every text field.
_SIZES = (190, 1_900, 8_100)
_TEXTS_EACH = 4
_TURN = 20_000
_DOCUMENT = 100_000
_DIMENSION = 16
_TYPES = ("text/plain", "text/markdown", "text/html", "message/rfc822")
_AT_ONCE = 2
_IDLE_SECONDS = 15.0
_SECONDS = 60.0
_END_SECONDS = 600.0
_POLL_SECONDS = 0.5
_UNENDED = ("QUEUED", "RUNNING")


async def run(options: Options) -> None:
    """Prints the figures; `--queries` is the number of pumped texts for each operation."""
    figures = Figures(options.name)
    async with _stack() as (stack, people, http), open_operations(stack, people) as operations:
        person = people[0]
        taking = [one for one in operations if one.takes_words]
        async with waits_of(stack.addresses) as idle:
            await asyncio.sleep(_IDLE_SECONDS)
        sent: Counter[str] = Counter()
        async with waits_of(stack.addresses) as waits:
            await _try_all(taking, person, options.queries or _TEXTS_EACH, sent)
            await _try_longest(http, sent)
            unended = await _unended(http)
        crashes = sum(stack.restarts(name) for name in stack.addresses)
    for name, milliseconds in sorted(waits.items()):
        note(f"longest wait for {name}: {milliseconds:.0f} ms ({idle[name]:.0f} ms while idle)")
    figures.put("operations", len(taking), "operations")
    figures.put("cases", sum(sent.values()), "cases")
    figures.put("late", sent["late"], "cases")
    figures.put("idle_wait_ms", max(idle.values()), "ms")
    figures.put("loop_stall_ms", max(waits.values()), "ms")
    figures.put("crashes", crashes, "crashes")
    figures.put("not_dead_lettered", unended, "writes and jobs")
    if sum(sent.values()) < MIN_CASES:
        raise MeasureError(f"fewer than {MIN_CASES} cases were sent")


@asynccontextmanager
async def _stack() -> AsyncIterator[tuple[LocalStack, list[Person], httpx2.AsyncClient]]:
    with temporary_data() as data:
        people = [issue_keys(data)[0]]
        async with OpenAIStub(_DIMENSION) as stub:
            environment = {
                "EMBEDDING_BASE_URL": stub.base_url,
                "EMBEDDING_MODEL": "stub",
                "EMBEDDING_API_KEY": "sk-stub",
                "BRAID_LOG_LEVEL": "error",
            }
            async with running_stack(data, environment) as stack:
                url = f"http://{stack.addresses['gateway']}"
                async with httpx2.AsyncClient(
                    base_url=url, timeout=_SECONDS, headers=people[0].headers
                ) as http:
                    yield stack, people, http


async def _try_all(
    operations: Sequence[Operation], person: Person, each: int, sent: Counter[str]
) -> None:
    """Sends each operation some of the texts, in turn, so that together they get all."""
    texts = cycle(pump for size in _SIZES for pump in general_pumps(size))
    cases = iter([(one, next(texts)) for one in operations for _ in range(each)])
    with bar("pumped texts", len(operations) * each) as show:

        async def caller() -> None:
            for operation, text in cases:
                outcome = await outcome_of(operation, person, Given(str(uuid.uuid4()), text))
                if outcome.status != NOT_SENT:
                    sent["late" if outcome.status == "late" else operation.name] += 1
                show(sum(sent.values()))

        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(caller())


async def _try_longest(http: httpx2.AsyncClient, sent: Counter[str]) -> None:
    """Sends every text as long as it may be: as a question, as a turn, and as documents of several types."""
    for path, body in _longest():
        try:
            await http.post(path, json=body)
            sent[path] += 1
        except httpx2.TimeoutException:
            sent["late"] += 1
            note(f"late: {path}")


def _longest() -> Iterator[tuple[str, Any]]:
    for question, turn in zip(general_pumps(8_100), general_pumps(_TURN - 100), strict=True):
        yield "/api/chat", {"question": f"I use {question}"}
        yield "/api/memory/turns", {"turns": [f"I use {turn}"]}
    for kind, text in zip(cycle(_TYPES), general_pumps(_DOCUMENT), strict=False):
        yield "/api/documents", {"title": "A document", "text": text, "content_type": kind}


async def _unended(http: httpx2.AsyncClient) -> int:
    """Returns how many jobs and memory writes have neither succeeded nor are listed as dead in time.

    A user's writes keep their order: they have all ended once the effect of the last one is seen.
    """
    await http.post("/api/chat", json={"question": "I use Vim."})
    until = time.monotonic() + _END_SECONDS
    jobs, saved = -1, False
    while time.monotonic() < until and (jobs or not saved):
        answer = (await http.get("/api/jobs", params={"state": list(_UNENDED)})).json()
        jobs = len(answer.get("jobs", ()))
        found = (await http.get("/api/memory/entities", params={"query": "Vim"})).json()
        saved = any(one["name"] == "Vim" for one in found.get("entities", ()))
        await asyncio.sleep(_POLL_SECONDS)
    return jobs + (not saved)
