"""Java's AOT cache for Neo4j, made of what its first normal stop recorded: later starts take half the time.

It has classes, linked, and profiles of methods, so it is best recorded by a server that has worked.
It is optional: without it Neo4j starts, more slowly.
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
    """Create the cache from a recording, which is removed whatever happens.

    Stacks may do so at the same time: each writes a file of its own, and renames it once it is on the disk.

    Args:
        java: says where the cache goes.
        recording: what a server wrote that was run by `Java.recording`.
        run: the folder of pid files.
        log: where Java's own messages go.

    Raises:
        LocalStackError, OSError: no cache was made.
    """
    with contextlib.ExitStack() as ends:
        ends.callback(recording.unlink, missing_ok=True)
        folder = tempfile.TemporaryDirectory(dir=java.aot_cache.parent, prefix=".aot-")
        output = Path(ends.enter_context(folder)) / java.aot_cache.name
        await _run(java.creation(recording, output), run, log)
        await asyncio.to_thread(_publish, output, java.aot_cache)


def _publish(output: Path, place: Path) -> None:
    """Java trusts the file's header: after a power cut, pages that never reached the disk would crash it."""
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
        grace=0.0,  # what it has written by then is of no use
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
