"""A stack of both stores restarts crashed ones, stops and starts them by name, and replaces leftover processes."""

import asyncio
import os
import signal
import sys

import asyncpg
import psutil
import pytest

from deploy.local.stack import LocalStack
from deploy.local.supervisor import Backoff
from tests.stores import data_folder

_SUPERVISOR = """
import asyncio, pathlib, sys
from deploy.local.stack import LocalStack

async def main():
    async with LocalStack(pathlib.Path(sys.argv[1]), ports="free", processes=()) as stack:
        print(stack.pid("postgres"), stack.pid("neo4j"), flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def answers(stack: LocalStack) -> bool:
    try:
        connection = await asyncpg.connect(stack.stores.environment()["DATABASE_URL"])
    except (OSError, asyncpg.PostgresError):
        return False
    await connection.close()
    return True


@pytest.mark.timeout(120)
async def test_a_crashed_store_is_restarted_and_a_stopped_one_can_be_started_again() -> None:
    with data_folder() as data:
        backoff = Backoff(first=0.01, longest=0.1)
        async with LocalStack(data, ports="free", processes=(), backoff=backoff) as stack:
            crashed = stack.pid("postgres")
            assert crashed is not None
            os.kill(crashed, signal.SIGKILL)
            async with asyncio.timeout(30):
                while stack.restarts("postgres") == 0 or not await answers(stack):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            await stack.stop_process("neo4j")
            assert stack.pid("neo4j") is None
            await stack.start_process("neo4j")
            assert stack.pid("neo4j") is not None
            stores = [psutil.Process(stack.pid(name) or 0) for name in ("postgres", "neo4j")]
        assert not any(store.is_running() for store in stores)


@pytest.mark.timeout(120)
async def test_a_stack_replaces_the_leftover_processes_of_a_killed_supervisor() -> None:
    with data_folder() as data:
        supervisor = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _SUPERVISOR, str(data)), stdout=asyncio.subprocess.PIPE
        )
        assert supervisor.stdout is not None
        leftovers = [
            psutil.Process(int(pid)) for pid in (await supervisor.stdout.readline()).split()
        ]
        supervisor.kill()
        await supervisor.wait()
        async with LocalStack(data, ports="free", processes=()) as stack:
            assert not any(leftover.is_running() for leftover in leftovers)
            assert await answers(stack)
