"""Background tasks: a failure is counted and the task starts again; nothing ends silently."""

from __future__ import annotations

import asyncio

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.runtime.background import in_background, keep_running


class Work:
    """Fails a number of times, then runs until cancelled."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.starts = 0
        self.steady = asyncio.Event()
        self.ended = False

    async def run(self) -> None:
        self.starts += 1
        if self.starts <= self.failures:
            raise LookupError("a table is missing")
        self.steady.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


def restarts(reader: InMemoryMetricReader) -> dict[str, int]:
    data = reader.get_metrics_data()
    assert data is not None
    [metric] = data.resource_metrics[0].scope_metrics[0].metrics
    assert metric.name == "braid.background.restarts"
    return {
        str((point.attributes or {})["task"]): int(point.value)  # type: ignore[union-attr]
        for point in metric.data.data_points
    }


async def test_work_that_fails_for_any_reason_starts_again_and_each_restart_is_counted() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    meter = provider.get_meter("test")
    work, steady = Work(failures=3), Work(failures=0)
    tasks = [
        asyncio.create_task(keep_running(name, one.run, first_delay=0.001, meter=meter))
        for name, one in (("failing", work), ("steady", steady))
    ]
    async with asyncio.timeout(10):
        await asyncio.gather(work.steady.wait(), steady.steady.wait())
    assert work.starts == 4
    assert restarts(reader) == {"failing": 3, "steady": 0}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    provider.shutdown()


async def test_work_that_has_nothing_left_to_do_is_not_started_again() -> None:
    starts = 0

    async def work() -> None:
        nonlocal starts
        starts += 1

    await keep_running("done", work)
    assert starts == 1


async def test_work_ends_with_its_block() -> None:
    work = Work(failures=0)
    async with in_background("work", work.run):
        await work.steady.wait()
        assert not work.ended
    assert work.ended
