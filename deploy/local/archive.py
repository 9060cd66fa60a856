"""A class archive for Neo4j: recorded once per machine, it halves the time of every start."""

import tempfile
from pathlib import Path

from deploy.local.jars import neo4j_jars
from deploy.local.java import Java
from deploy.local.neo4j import DATABASE, USER, Neo4j
from deploy.local.progress import StartProgress

_CYPHER = Path(__file__).with_name("cypher") / "rehearsal.cypher"


async def prepare(cache: Path, progress: StartProgress) -> None:
    """Fetch Neo4j's jars and record its archive, where either is missing (once; up to a minute).

    The archive is optional: without it the server starts, more slowly.
    """
    jars = neo4j_jars(cache)
    await jars.ensure(progress)
    java = Java.over(jars)
    if not java.archive.exists():
        progress.note("Preparing Neo4j for fast starts (once, about 40 seconds)")
        await _record(java)


async def _record(java: Java) -> None:
    folder = java.archive.parent
    with tempfile.TemporaryDirectory(dir=folder, prefix=".record-") as name:
        data = Path(name)
        for part in ("logs", "run"):
            (data / part).mkdir()
        server = Neo4j(data, java)
        output = data / java.archive.name
        try:
            await server.record(output)
            await _rehearse(server)
        finally:
            await server.stop()
        if output.exists():
            output.replace(java.archive)


async def _rehearse(server: Neo4j) -> None:
    """Run what a start and its first requests run, so that these classes are in the archive."""
    from neo4j import AsyncGraphDatabase  # noqa: PLC0415 (heavy)

    text = "\n".join(line for line in _CYPHER.read_text().splitlines() if not line.startswith("//"))
    async with AsyncGraphDatabase.driver(server.uri, auth=(USER, server.password)) as driver:
        for query in filter(str.strip, text.split(";")):
            await driver.execute_query(query, space="rehearsal", database_=DATABASE)
