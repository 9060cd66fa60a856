"""Waits until a Neo4j server answers queries.

Run as a process of its own (`python -m deploy.local.bolt URI`, the password on standard input):
the driver would cost the supervisor 40 MiB for as long as the stack runs.
"""

import asyncio
import contextlib
import sys

from neo4j import AsyncGraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from deploy.local.neo4j import DATABASE, USER
from deploy.local.probes import listening

_POLL = 0.05


async def until_answers(uri: str, password: str) -> None:
    """Return once a query has been answered; the caller sets the deadline."""
    await listening(uri.removeprefix("bolt://"))
    async with AsyncGraphDatabase.driver(uri, auth=(USER, password)) as driver:
        while True:
            with contextlib.suppress(DriverError, Neo4jError):
                async with driver.session(database=DATABASE) as session:
                    await session.run("RETURN 1")
                    return
            await asyncio.sleep(_POLL)


if __name__ == "__main__":
    asyncio.run(until_answers(sys.argv[1], sys.stdin.read()))
