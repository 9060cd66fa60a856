"""The stack that a command measures: started on free ports, by default in a temporary folder, and always stopped."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from pathlib import Path

import grpc
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from deploy.local.errors import LocalStackError
from deploy.local.processes import with_replicas, with_workers
from deploy.local.stack import LocalStack
from services.runtime.channels import open_channel
from tests.benchmarks.command import MeasureError
from tests.benchmarks.credentials import issue
from tests.benchmarks.figures import note

# Caches are off, because figures are about the work itself.
SETTINGS = {
    "BRAID_LOG_LEVEL": "warning",
    # Callers of the space `local` have no key, although there is one for the other spaces.
    "BRAID_ALLOW_LOCAL": "true",
    "EMBEDDING_CACHE_ENTRIES": "0",
}


@contextlib.contextmanager
def temporary_data() -> Iterator[Path]:
    """Yields a data folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="braid-measure-", ignore_cleanup_errors=True) as name:
        yield Path(name) / "data"


@contextlib.asynccontextmanager
async def running_stack(
    data: Path | None = None,
    environment: Mapping[str, str] | None = None,
    only: Collection[str] = (),
    workers: int = 1,
    replicas: int = 1,
) -> AsyncIterator[LocalStack]:
    """Runs the stack over `data`, by default a temporary folder, with all processes or `only` those named.

    `workers` is the number of workers, `replicas` that of each service. Raises MeasureError if it does not start.
    """
    with contextlib.ExitStack() as folders:
        place = data or folders.enter_context(temporary_data())
        issue(place)
        stack = LocalStack(
            place,
            ports="free",
            extra_env={**SETTINGS, **(environment or {})},
            processes=[
                spec
                for spec in with_replicas(with_workers(workers), replicas)
                if not only or spec.name in only
            ],
        )
        began = time.perf_counter()
        try:
            await stack.start()
        except LocalStackError as error:
            raise MeasureError(f"the local stack did not start: {error}") from error
        note(f"the stack is up after {time.perf_counter() - began:.1f} s")
        try:
            yield stack
        finally:
            await stack.stop()


@contextlib.asynccontextmanager
async def channel_to(stack: LocalStack, name: str) -> AsyncIterator[grpc.aio.Channel]:
    """Opens a channel to a process of the stack, without retries, so that one call is measured."""
    channel = open_channel(stack.addresses[name], retry=False)
    try:
        yield channel
    finally:
        await channel.close()


@contextlib.contextmanager
def bar(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows a progress bar on standard error; the yielded function takes how many of `total` steps are done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(text, total=total)
        yield lambda done: shown.update(task, completed=done)
