"""A leg that hangs: its process is stopped by signal, as a stuck one is, and let go on afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from itertools import islice

import grpc

from deploy.local.stack import LocalStack
from tests.benchmarks.callers import Sample, timed
from tests.benchmarks.command import MeasureError
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import bar
from tests.benchmarks.legs import LEGS, LOOKED, Searches, Statuses
from tests.benchmarks.recovery import until_looking

_BUDGET = 0.3
_ASKED = 100
_PROCESS = {"vector": "vector_search", "graph": "graph_query"}


async def measure_hanging(
    stack: LocalStack, doors: Searches, queries: Iterator[str], figures: Figures
) -> None:
    """Ask with a budget while each leg hangs in turn; every answer must carry the other leg."""
    sample, failed = Sample(), 0
    for leg in LEGS:
        with _hanging(stack, _PROCESS[leg]), bar(f"{leg} hangs", _ASKED) as show:
            for number, text in enumerate(islice(queries, _ASKED)):
                statuses, took = await timed(_within_budget(doors, text))
                sample.times_ms.append(took)
                failed += not _right(statuses, leg)
                show(number + 1)
        await until_looking(doors, queries, leg)
    figures.put("hung_leg_p99_over_budget_ms", sample.percentile(99) - 1000 * _BUDGET, "ms")
    figures.put("hung_leg_budget_ms", 1000 * _BUDGET, "ms")
    figures.put("hung_leg_p50_ms", sample.percentile(50), "ms")
    figures.put("hung_leg_failed", failed, "queries")


async def _within_budget(doors: Searches, text: str) -> Statuses | None:
    try:
        return await doors.comprehensive(text, _BUDGET)
    except grpc.aio.AioRpcError:
        return None


def _right(statuses: Statuses | None, hung: str) -> bool:
    """Whether the hung leg is said not to have looked, and the other one answered."""
    if statuses is None:
        return False
    return statuses[hung] not in LOOKED and all(
        statuses[leg] in LOOKED for leg in LEGS if leg != hung
    )


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
