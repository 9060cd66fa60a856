"""Java's AOT cache for Neo4j, created from the recording of its first normal stop: later starts take half the time.

It contains linked classes and method profiles, so a server that has processed work makes the best recording.
It is optional: without it Neo4j starts more slowly.
"""

import asyncio
import contextlib
import os
import tempfile
from pathlib import Path

from deploy.local.child_process import Child, Command
from deploy.local.errors import LocalStackError
from deploy.local.java import Java

_CREATE_SECONDS = 300.0


async def create_aot_cache(java: Java, recording: Path, *, run: Path, log: Path) -> None:
    """Create the cache from a recording, which is always removed.

    Stacks may do so concurrently: each writes its own file, and renames it once it is on disk.

    Args:
        java: has the path of the cache.
        recording: the file that a server run with `Java.recording` wrote.
        run: the folder of pid files.
        log: the file for Java's messages.

    Raises:
        LocalStackError, OSError: no cache was created.
    """
    with contextlib.ExitStack() as ends:
        ends.callback(recording.unlink, missing_ok=True)
        folder = tempfile.TemporaryDirectory(dir=java.aot_cache.parent, prefix=".aot-")
        output = Path(ends.enter_context(folder)) / java.aot_cache.name
        await _run(java.creation(recording, output), run, log)
        await asyncio.to_thread(_publish, output, java.aot_cache)


def _publish(output: Path, place: Path) -> None:
    """Sync the file before renaming it: Java trusts its header, and pages lost in a power failure would crash Java."""
    with output.open("rb") as file:
        os.fsync(file.fileno())
    output.replace(place)


async def _run(program: list[str], run: Path, log: Path) -> None:
    command = Command(
        name="neo4j.aot",
        program=program,
        environment={"LC_ALL": "C.UTF-8", "PATH": os.defpath},
        run=run,
        log=log,
        grace=0.0,  # a partial file is useless
    )
    child = await Child.start(command)
    try:
        code = await asyncio.wait_for(child.wait(), _CREATE_SECONDS)
    except TimeoutError:
        raise LocalStackError(f"Java was not ready in {_CREATE_SECONDS:.0f} s") from None
    finally:
        await child.stop()
    if code:
        raise LocalStackError(f"Java ended with code {code}; see {log}")
