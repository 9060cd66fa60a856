"""Expands a result list by any mode, within its budget. If the graph is unavailable, the list stays as it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration

from braid.common.v1 import expansion_pb2, legs_pb2
from services.agent_orchestrator.clients.failures import reason_of
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.agent_orchestrator.expansion.formula import Formula
from services.agent_orchestrator.expansion.query_aware import (
    SEEDS,
    ExpansionResult,
    QueryAware,
    Question,
    Seed,
)
from services.runtime.errors import BraidError, InvalidFieldError
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from services.agent_orchestrator.clients.budget import Budget

Mode: TypeAlias = expansion_pb2.ExpansionMode.ValueType
_Failure = (grpc.aio.AioRpcError, TierUnavailableError, TimeoutError, BraidError)

OVER_MENTIONS = frozenset(
    {expansion_pb2.EXPANSION_MODE_QUERY_AWARE, expansion_pb2.EXPANSION_MODE_PAGERANK}
)
OFF = frozenset({expansion_pb2.EXPANSION_MODE_UNSPECIFIED, expansion_pb2.EXPANSION_MODE_NONE})


@dataclass(frozen=True, slots=True)
class Expanded:
    """The result of an expansion and its report, without the counts of the resulting list."""

    reach: ExpansionResult
    report: expansion_pb2.ExpansionReport


class EntityLinkingTask:
    """The look-up of the entities that a question names, concurrent with the search itself."""

    def __init__(self, task: asyncio.Task[Sequence[str]] | None) -> None:
        self._task = task

    async def entities(self) -> Sequence[str]:
        """Returns the entities' ids; raises the errors of the look-up."""
        return () if self._task is None else await self._task


@dataclass(frozen=True, slots=True)
class ExpansionRequest:
    """The question to expand for, and the options."""

    question: Question
    linking: EntityLinkingTask
    options: expansion_pb2.ExpansionOptions


class Expander:
    """Runs all modes of expansion."""

    def __init__(self, query_aware: QueryAware, formula: Formula, *, seconds: float) -> None:
        """`seconds` is the maximum share of a search's time for an expansion."""
        self._query_aware = query_aware
        self._formula = formula
        self._seconds = seconds

    @asynccontextmanager
    async def linking(
        self, mode: Mode, text: str, budget: Budget
    ) -> AsyncIterator[EntityLinkingTask]:
        """Looks up the question's entities concurrently with the block, if the mode needs them."""
        if mode not in OVER_MENTIONS:
            yield EntityLinkingTask(None)
            return
        task = asyncio.create_task(self._query_aware.link(text, budget.left()))
        try:
            yield EntityLinkingTask(task)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def expand(
        self, wanted: ExpansionRequest, seeds: Sequence[Seed], budget: Budget
    ) -> Expanded:
        """Returns the passages that the mode reaches from the seeds."""
        began = time.perf_counter_ns()
        report = expansion_pb2.ExpansionReport(mode=wanted.options.mode)
        reach = ExpansionResult()
        within = budget.part(self._seconds)
        try:
            async with asyncio.timeout(within.left()):
                reach = await self._reach(wanted, seeds, within)
        except InvalidFieldError:
            raise
        except _Failure as error:
            report.status = legs_pb2.LEG_STATUS_DEGRADED
            report.reason = reason_of(error)
            get_logger("search").warning(
                "list not expanded", reason=legs_pb2.LegReason.Name(report.reason)
            )
        else:
            began_with = {seed.chunk_id for seed in seeds}
            fresh = any(one.chunk_id not in began_with for one in reach.passages)
            report.status = legs_pb2.LEG_STATUS_OK if fresh else legs_pb2.LEG_STATUS_NO_MATCH
        report.incident_relation_count = reach.incident
        report.followed_relation_count = reach.followed
        report.utilisation = reach.followed / reach.incident if reach.incident else 0.0
        seconds, nanos = divmod(time.perf_counter_ns() - began, 1_000_000_000)
        report.elapsed.CopyFrom(Duration(seconds=seconds, nanos=nanos))
        return Expanded(reach, report)

    async def _reach(
        self, wanted: ExpansionRequest, seeds: Sequence[Seed], budget: Budget
    ) -> ExpansionResult:
        if wanted.options.mode == expansion_pb2.EXPANSION_MODE_FORMULA:
            return await self._formula.expand(wanted.question, seeds, wanted.options, budget)
        asked = await wanted.linking.entities()
        return await self._query_aware.expand(
            wanted.question, seeds[:SEEDS], asked, wanted.options, budget
        )
