"""A first start that is killed at any moment leaves a data folder that starts; a slow start is waited for."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import psutil

from deploy.local.stores import LocalStores
from tests.throttling import Throttle, own_children
from tests.unit.deploy.local.waiting import DEADLINE


@asynccontextmanager
async def starting(data: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Starts both stores in another process, which is killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "deploy.local", "stores", "--data", str(data)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def kill_when(data: Path, reached: Callable[[], bool], number: signal.Signals) -> None:
    """Starts the stores and sends a signal at a moment of the start."""
    async with starting(data) as process, asyncio.timeout(10 * DEADLINE):
        while not reached():
            assert process.returncode is None
            await asyncio.sleep(0.005)
        process.send_signal(number)
        await process.wait()


async def test_a_first_start_killed_in_initdb_and_in_the_first_run_of_neo4j_starts_again(
    tmp_path: Path,
) -> None:
    neo4j = tmp_path / "neo4j"
    moments: list[tuple[Callable[[], bool], signal.Signals]] = [
        (lambda: any((tmp_path / "postgres").glob("data.part*/base")), signal.SIGKILL),
        ((neo4j / "data" / "databases" / "system").exists, signal.SIGKILL),
    ]
    for reached, number in moments:
        await kill_when(tmp_path, reached, number)
    async with LocalStores(tmp_path) as stores:
        assert not stores.neo4j.is_first_start
        connection = await asyncpg.connect(stores.postgres.dsn("braid_agent"))
        await connection.close()
        assert not list((tmp_path / "postgres").glob("data.part*"))


async def test_a_start_on_a_twentieth_of_the_machine_succeeds(tmp_path: Path) -> None:
    others = {process.pid for process in own_children()}

    def started() -> list[psutil.Process]:
        return [process for process in own_children() if process.pid not in others]

    stores = LocalStores(tmp_path)
    stores.prepare()
    with Throttle(0.05, started) as throttle:
        await stores.postgres.start()
        throttle.end()
        assert throttle.cpu_seconds > 0
    connection = await asyncpg.connect(stores.postgres.dsn("braid_agent"))
    await connection.close()
    await stores.stop()
