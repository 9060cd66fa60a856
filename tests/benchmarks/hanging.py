"""Measures searches while a leg hangs: its process is paused by a signal and resumed afterwards.

First with a deadline set by the caller, then without one.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import grpc

from deploy.local.stack import LocalStack
from tests.benchmarks.callers import Sample, timed
from tests.benchmarks.command import MeasureError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar
from tests.benchmarks.legs import LEGS, Searches, describe, has_searched
from tests.benchmarks.recovery import until_recovered

_BUDGET = 0.3
_ASKED = 100
_PROCESS = {"vector": "vector_search", "graph": "graph_query"}


async def measure_hanging(
    stack: LocalStack, doors: Searches, queries: Iterator[str], figures: Figures
) -> None:
    """Asks with and without a deadline while each leg hangs in turn; every response must contain the other leg."""
    sample, unlimited, wrong = Sample(), Sample(), Counter[str]()
    for leg in LEGS:
        for budget, into in ((_BUDGET, sample), (None, unlimited)):
            with _hanging(stack, _PROCESS[leg]), bar(f"{leg} hangs", _ASKED) as show:
                for asked, text in enumerate(islice(queries, _ASKED), 1):
                    failure, took = await timed(_failure(doors, text, leg, budget))
                    into.times_ms.append(took)
                    wrong[f"{leg} hangs: {failure}"] += bool(failure)
                    show(asked)
            await until_recovered(doors, queries, leg)
    for failure, times in wrong.items():
        if times:
            note(f"failed {times} times: {failure}")
    figures.put("hung_leg_p99_over_budget_ms", sample.percentile(99) - 1000 * _BUDGET, "ms")
    figures.put("hung_leg_budget_ms", 1000 * _BUDGET, "ms")
    figures.put("hung_leg_p50_ms", sample.percentile(50), "ms")
    figures.put("hung_leg_no_deadline_max_ms", max(unlimited.times_ms), "ms")
    figures.put("hung_leg_no_deadline_p50_ms", unlimited.percentile(50), "ms")
    figures.put("hung_leg_failed", wrong.total(), "queries")


async def _failure(doors: Searches, text: str, hung: str, budget: float | None) -> str:
    """Returns what is wrong with a response during a hang; "" if it reports the hung leg and has the other one."""
    try:
        reports = await doors.comprehensive(text, budget)
    except grpc.aio.AioRpcError as error:
        return error.code().name
    others = all(has_searched(reports, leg) for leg in LEGS if leg != hung)
    return "" if others and not has_searched(reports, hung) else describe(reports)


@contextlib.contextmanager
def _hanging(stack: LocalStack, name: str) -> Iterator[None]:
    pid = stack.pid(name)
    if pid is None:
        raise MeasureError(f"{name} does not run")
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
