"""Commands of the local stack: `python -m deploy.local lock|prepare|stores|up`."""

import argparse
import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from deploy.local.errors import LocalStackError
from deploy.local.jars import default_cache, neo4j_jars
from deploy.local.processes import with_replicas, with_workers
from deploy.local.progress import ConsoleProgress
from deploy.local.signals import end_on_termination, until_signalled
from deploy.local.stack import LocalStack
from deploy.local.stores import LocalStores


async def run(
    data: Path,
    progress: ConsoleProgress,
    *,
    stores_only: bool,
    workers: int = 1,
    replicas: int = 1,
) -> None:
    """Start the stack, print its addresses, and run it until it is stopped."""
    end_on_termination()
    processes = () if stores_only else with_replicas(with_workers(workers), replicas)
    stores = LocalStores(data, progress=progress, record=not stores_only)
    async with LocalStack(data, processes=processes, stores=stores, progress=progress) as stack:
        for name, address in stack.addresses.items():
            progress.note(f"{name}: {address}")
        progress.note(f"Running; credentials are under {stack.data}. Ctrl-C stops it.")
        await until_signalled()
    end_on_termination()
    with contextlib.suppress(asyncio.CancelledError):
        await stores.create_aot_cache()


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m deploy.local")
    parser.add_argument(
        "command",
        choices=("lock", "prepare", "stores", "up"),
        help="renew the jar lock; fetch Neo4j's jars; run stores; run all",
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("BRAID_DATA", ".braid")))
    parser.add_argument("--workers", type=int, default=1, help="processes that work on jobs")
    parser.add_argument("--replicas", type=int, default=1, help="processes of each service")
    return parser.parse_args(words)


async def _run_command(arguments: argparse.Namespace, progress: ConsoleProgress) -> None:
    if arguments.command == "prepare":
        await neo4j_jars(default_cache(os.environ)).ensure(progress)
        return
    await run(
        arguments.data,
        progress,
        stores_only=arguments.command == "stores",
        workers=arguments.workers,
        replicas=arguments.replicas,
    )


def main(words: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    logging.basicConfig(format="%(message)s")
    arguments = _arguments(words)
    if arguments.command == "lock":
        from deploy.local.lock import renew  # noqa: PLC0415 (only this command resolves)

        renew()
        return 0
    with ConsoleProgress() as progress:
        try:
            asyncio.run(_run_command(arguments, progress))
        except LocalStackError as error:
            progress.note(str(error))
            return 1
        except (KeyboardInterrupt, asyncio.CancelledError):
            progress.note("Stopped before everything had started")
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
