"""Waits until a Neo4j server answers queries.

Runs as a separate process (`python -m deploy.local.wait_for_neo4j URI PID`, with the password on standard input),
because the driver would cost the supervisor 40 MiB as long as the stack runs.
"""

import asyncio
import os
import sys

from neo4j import AsyncDriver, AsyncGraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from deploy.local.java import lower_compiler_priority
from deploy.local.neo4j import DATABASE, REFUSED, USER
from deploy.local.probes import POLL, listening, poll


async def until_answers(uri: str, password: str, pid: int) -> None:
    """Return once a query has been answered; raises AuthError if the password is refused."""
    await listening(uri.removeprefix("bolt://"))
    lower_compiler_priority(pid)
    async with AsyncGraphDatabase.driver(uri, auth=(USER, password)) as driver:
        await poll(lambda: _answers(driver))


async def _answers(driver: AsyncDriver) -> bool:
    try:
        async with driver.session(database=DATABASE) as session:
            # In the language version of Braid's queries: a first one in another would load a second parser.
            await session.run("CYPHER 25 RETURN 1")
    except AuthError:
        raise
    except (DriverError, Neo4jError):
        return False
    return True


async def _main(uri: str, password: str, pid: int) -> int:
    """Return the exit code; ends by itself if the supervisor is killed."""
    parent = os.getppid()
    asking = asyncio.create_task(until_answers(uri, password, pid))
    while not asking.done() and os.getppid() == parent:
        await asyncio.wait((asking,), timeout=POLL)
    if not asking.done():
        return 1
    try:
        asking.result()
    except AuthError:
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main(sys.argv[1], sys.stdin.read(), int(sys.argv[2]))))
