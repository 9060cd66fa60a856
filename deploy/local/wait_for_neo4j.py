"""Waits until a Neo4j server answers queries.

Runs as a separate process (`python -m deploy.local.wait_for_neo4j URI`, with the password on standard input),
because the driver would cost the supervisor 40 MiB as long as the stack runs.
"""

import asyncio
import sys

from neo4j import AsyncDriver, AsyncGraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from deploy.local.neo4j import DATABASE, REFUSED, START_SECONDS, USER
from deploy.local.probes import listening

_POLL = 0.05


async def until_answers(uri: str, password: str) -> None:
    """Return once a query has been answered; raises AuthError if the password is refused."""
    await listening(uri.removeprefix("bolt://"))
    async with AsyncGraphDatabase.driver(uri, auth=(USER, password)) as driver:
        while not await _answers(driver):  # noqa: ASYNC110 (the server cannot tell us)
            await asyncio.sleep(_POLL)


async def _answers(driver: AsyncDriver) -> bool:
    try:
        async with driver.session(database=DATABASE) as session:
            await session.run("RETURN 1")
    except AuthError:
        raise
    except (DriverError, Neo4jError):
        return False
    return True


async def _main(uri: str, password: str) -> int:
    """Exits by itself if the supervisor is killed."""
    async with asyncio.timeout(START_SECONDS):
        try:
            await until_answers(uri, password)
        except AuthError:
            return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main(sys.argv[1], sys.stdin.read())))
