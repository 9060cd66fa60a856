"""An archive for Neo4j, recorded once per machine: starts take half the time, first work is quick."""

import asyncio
import contextlib
import os
import signal
import tempfile
from pathlib import Path

from deploy.local.child import Command
from deploy.local.errors import LocalStackError
from deploy.local.jars import neo4j_jars
from deploy.local.java import Java
from deploy.local.neo4j import USER, Neo4j
from deploy.local.ports import LOOPBACK, free_ports
from deploy.local.processes import BRAID, ProcessSpec
from deploy.local.progress import StartProgress
from deploy.local.stores import all_or_first_error
from deploy.local.supervisor import Process

TIER = next(spec for spec in BRAID if spec.name == "graph_query")
# What the tier is given of the environment: no key, model or address of the user's, as it works for nobody.
_PASSED_ON = ("HOME", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "TMPDIR")
# With fewer, Neo4j's second compiler has not met all of ingestion's hot methods; more add little.
COMPANIES = 10
_REHEARSED = 90.0  # seconds; on a slow machine, what was rehearsed by then has to do


async def prepare(cache: Path, progress: StartProgress) -> None:
    """Fetch Neo4j's jars and record its archive, where either is missing (once; about a minute).

    The archive is optional: without it the server starts, more slowly.
    """
    jars = neo4j_jars(cache)
    await jars.ensure(progress)
    java = Java.over(jars)
    if not java.archive.exists():
        progress.note("Preparing Neo4j for fast starts (once, about a minute)")
        await try_to_record(java, progress)


async def try_to_record(java: Java, progress: StartProgress, tier: ProcessSpec = TIER) -> None:
    """Like `record`, but whoever waits is told of a failure and may go on."""
    try:
        await record(java, progress, tier)
    except (LocalStackError, OSError) as error:
        progress.note(f"Neo4j could not be prepared and will start more slowly: {error}")


async def record(
    java: Java, progress: StartProgress, tier: ProcessSpec = TIER, companies: int = COMPANIES
) -> None:
    """Record the archive of a Neo4j that the graph tier works with.

    It is recorded even when the tier fails, which `progress` is told.

    Args:
        java: says where the archive goes.
        progress: told of what is missing.
        tier: the process to work with.
        companies: how many of them it takes in.

    Raises:
        LocalStackError, OSError: nothing was recorded.
    """
    folder = java.archive.parent
    with tempfile.TemporaryDirectory(dir=folder, prefix=".record-") as name:
        data = Path(name)
        for part in ("logs", "run"):
            (data / part).mkdir()
        server = Neo4j(data, java)
        server.prepare()
        output = data / java.archive.name
        try:
            await all_or_first_error(
                server.record(output), _rehearse(data, server, tier, companies, progress)
            )
            await server.stop()
        finally:
            await _end(server)
        if await server.wait() == -signal.SIGKILL or not output.exists():
            raise LocalStackError("it did not write its archive in time")
        output.replace(java.archive)


async def _rehearse(
    data: Path, server: Neo4j, spec: ProcessSpec, companies: int, progress: StartProgress
) -> None:
    """Work with a tier that starts beside Neo4j and waits for it."""
    from deploy.local.rehearsal import rehearse  # noqa: PLC0415 (heavy)

    address = f"{LOOPBACK}:{free_ports(1)[0]}"
    tier = Process(_command(data, server, spec, address), spec.probe, address)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REHEARSED):
                await tier.start()
                await rehearse(address, companies)
    except LocalStackError as error:
        progress.note(f"Neo4j starts fast, but its first work will be slower: {error}")
    finally:
        await tier.stop()


def _command(data: Path, server: Neo4j, spec: ProcessSpec, address: str) -> Command:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    store = {"NEO4J_URI": server.uri, "NEO4J_USER": USER, "NEO4J_PASSWORD": server.password}
    return Command(
        name=spec.name,
        program=spec.program,
        environment={**passed_on, **store, spec.listen: address},
        run=data / "run",
        log=data / "logs" / f"{spec.name}.log",
        folder=data,  # where no `.env` is
    )


async def _end(server: Neo4j) -> None:
    """Kill what is still there of it, the process that writes the archive included: nobody waits for that."""
    if server.pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        await server.wait()
