"""Checks that documents accepted while processes are killed reach both stores completely and exactly once."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence

import grpc

from braid.agent.v1 import (
    consistency_pb2,
    consistency_pb2_grpc,
    ingest_pb2_grpc,
    jobs_pb2,
    jobs_pb2_grpc,
)
from deploy.local.errors import NotRunningError
from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.credentials import Metadata, credential
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import invented_sentences
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.benchmarks.space_content import differences, space_content
from tests.benchmarks.uploading import Text, ingested, is_transient, upload

_ROUNDS = 100
_DOCUMENTS = 20
_SENTENCES = 6
_LATEST_KILL = 3.0
_PATIENCE = 240.0
_KILLED = (
    "agent_worker",
    "agent_orchestrator",
    "vector_search",
    "graph_query",
    "gateway",
    "postgres",
    "neo4j",
)
_ENDED = jobs_pb2.JOB_STATE_SUCCEEDED


async def run(options: Options) -> None:
    """Runs `--queries` rounds, then ingests the same documents in another space without kills."""
    figures = Figures(options.name)
    rounds = options.queries or _ROUNDS
    async with running_stack() as stack:
        drill = Drill(stack, random.Random(options.seed), options.seed)  # noqa: S311
        async with channel_to(stack, "agent_orchestrator") as channel:
            drill.connect(channel)
            with bar("rounds", rounds) as show:
                for done in range(rounds):
                    await drill.round()
                    show(done + 1)
            await drill.put(figures, rounds)


class Drill:
    """Rounds of new documents with one kill each."""

    def __init__(self, stack: LocalStack, chance: random.Random, seed: int) -> None:
        self._stack = stack
        self._chance = chance
        self._statements = invented_sentences(seed)
        self._called = credential(stack.data, "crashed")
        self._texts: list[Text] = []
        self._lost: Counter[str] = Counter()
        self._kills: Counter[str] = Counter()
        self._slowest = 0.0

    def connect(self, channel: grpc.aio.Channel) -> None:
        """Uses this channel, which reconnects when necessary."""
        self._channel = channel
        self._ingest = ingest_pb2_grpc.IngestServiceStub(channel)
        self._jobs = jobs_pb2_grpc.JobServiceStub(channel)
        self._consistency = consistency_pb2_grpc.ConsistencyServiceStub(channel)

    async def round(self) -> None:
        """Sends new documents, kills a process at a random moment, and waits until all documents are graph-ready."""
        texts = list(self._new())
        self._texts.extend(texts)
        killing = asyncio.create_task(self._kill())
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            jobs = [group.create_task(self._accepted(text)) for text in texts]
        for job in jobs:
            await self._graph_ready(job.result())
        self._slowest = max(self._slowest, time.perf_counter() - began)
        await killing

    async def put(self, figures: Figures, rounds: int) -> None:
        """Compares with a run without kills, and prints the figures."""
        note("the same documents without kills")
        calm = credential(self._stack.data, "calm")
        await ingested(self._channel, self._texts, calm)
        lost, doubled = differences(
            await space_content(self._stack, self._called), await space_content(self._stack, calm)
        )
        for reason, times in [*self._lost.items(), *lost.items(), *doubled.items()]:
            note(f"{times} × {reason}")
        for name, times in sorted(self._kills.items()):
            figures.put(f"kills.{name}", times, "kills")
        figures.put("documents", len(self._texts), "documents")
        figures.put("slowest_round_s", self._slowest, "s")
        figures.put("rounds", rounds, "rounds")
        figures.put("lost", self._lost.total() + lost.total(), "documents")
        figures.put("doubled", doubled.total(), "rows")
        figures.put("orphans", await self._orphans(), "rows")

    def _new(self) -> Iterator[Text]:
        first = len(self._texts)
        for place in range(first, first + _DOCUMENTS):
            text = " ".join(itertools.islice(self._statements, _SENTENCES))
            yield Text(f"crash-{place}", f"Crash {place}", text)

    async def _kill(self) -> None:
        await asyncio.sleep(self._chance.uniform(0.0, _LATEST_KILL))
        for name in self._chance.sample(_KILLED, len(_KILLED)):
            # A process that is being restarted cannot be killed; then another one is.
            with contextlib.suppress(NotRunningError):
                await self._stack.kill(name, restart=True)
                self._kills[name] += 1
                return

    async def _accepted(self, text: Text) -> str:
        """Sends a document with one request id until it is accepted; returns its job's id."""
        called: Metadata = (*self._called, ("x-request-id", uuid.uuid4().hex))
        limit = time.perf_counter() + _PATIENCE
        while time.perf_counter() < limit:
            try:
                return (await upload(self._ingest, [text], called)).id
            except grpc.aio.AioRpcError as error:
                if not is_transient(error):
                    raise
            await asyncio.sleep(0.2)
        raise MeasureError(f"{text.id} was not accepted in {_PATIENCE:.0f} s")

    async def _graph_ready(self, job_id: str) -> None:
        limit = time.perf_counter() + _PATIENCE
        request = jobs_pb2.GetJobRequest(job_id=job_id)
        while time.perf_counter() < limit:
            try:
                answer = await self._jobs.GetJob(
                    request, metadata=self._called, timeout=5, wait_for_ready=True
                )
            except grpc.aio.AioRpcError as error:
                if not is_transient(error):
                    raise
                continue
            if answer.job.state >= _ENDED:
                if answer.job.graph_ready_count != 1:
                    self._lost[_reason(answer.job.failures)] += 1
                return
            await asyncio.sleep(0.1)
        self._lost["not graph-ready in time"] += 1

    async def _orphans(self) -> int:
        answer = await self._consistency.CheckConsistency(
            consistency_pb2.CheckConsistencyRequest(), metadata=self._called, timeout=_PATIENCE
        )
        for one in answer.report.listed:
            note(str(one).replace("\n", " "))
        return sum(count.found_count for count in answer.report.counts)


def _reason(failures: Sequence[jobs_pb2.JobFailure]) -> str:
    return failures[0].reason if failures else "ended without a reason"
