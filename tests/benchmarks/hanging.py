"""A leg that hangs: its process is stopped by signal, as a stuck one is, and let go on afterwards.

First for callers who set a deadline, then for one who sets none.
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
from tests.benchmarks.legs import LEGS, Searches, looked, told
from tests.benchmarks.recovery import until_looking

_BUDGET = 0.3
_ASKED = 100
_PROCESS = {"vector": "vector_search", "graph": "graph_query"}


async def measure_hanging(
    stack: LocalStack, doors: Searches, queries: Iterator[str], figures: Figures
) -> None:
    """Ask with a budget while each leg hangs in turn; every answer must carry the other leg."""
    sample, unlimited, wrong = Sample(), Sample(), Counter[str]()
    for leg in LEGS:
        for budget, into in ((_BUDGET, sample), (None, unlimited)):
            with _hanging(stack, _PROCESS[leg]), bar(f"{leg} hangs", _ASKED) as show:
                for asked, text in enumerate(islice(queries, _ASKED), 1):
                    failure, took = await timed(_failure(doors, text, leg, budget))
                    into.times_ms.append(took)
                    wrong[f"{leg} hangs: {failure}"] += bool(failure)
                    show(asked)
            await until_looking(doors, queries, leg)
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
    """What is wrong with an answer while a leg hangs: nothing, when it says so and brings the other leg."""
    try:
        reports = await doors.comprehensive(text, budget)
    except grpc.aio.AioRpcError as error:
        return error.code().name
    others = all(looked(reports, leg) for leg in LEGS if leg != hung)
    return "" if others and not looked(reports, hung) else told(reports)


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
