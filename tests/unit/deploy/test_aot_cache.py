"""Recording Neo4j's archive may fail, and may be given up: nothing of it is left then."""

import asyncio
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from deploy.local.archive import record, try_to_record
from deploy.local.errors import StartError
from deploy.local.jars import JarCache
from deploy.local.java import Java
from deploy.local.probes import listening
from deploy.local.processes import ProcessSpec
from tests.notes import Notes
from tests.unit.deploy.waiting import alive, eventually

IDLE = (sys.executable, "-c", "import signal; signal.pause()")
# Starts a process of its own, as Java does to write an archive; tells both ids.
FORKING = (
    "import os, signal, sys; os.fork(); open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); "
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
)
TELLING = (
    "import json, os, sys; json.dump(dict(os.environ), open(f'{sys.argv[1]}.part', 'w')); "
    "os.replace(f'{sys.argv[1]}.part', sys.argv[1])"
)
TIER = ProcessSpec(name="tier", program=IDLE, probe=listening, listen="LISTEN")


class FakeJava(Java):
    """Runs a given program as the server that records."""

    program: tuple[str, ...] = ("false",)

    def admin(self, *arguments: str) -> list[str]:
        return [shutil.which("true") or ""]

    def recording(self, output: Path, *arguments: str) -> list[str]:
        return [shutil.which(self.program[0]) or "", *self.program[1:]]


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def java(tmp_path: Path) -> FakeJava:
    """Keeps its archive in an empty folder."""
    return FakeJava(JarCache(tmp_path / "jars", ()), tmp_path / "neo4j.aot")


async def test_a_neo4j_that_does_not_start_leaves_nothing_behind(
    java: FakeJava, tmp_path: Path
) -> None:
    with pytest.raises(StartError, match="neo4j did not start: it ended with code 1"):
        await record(java, Notes(), TIER)
    assert not names(tmp_path)


async def test_whoever_waits_for_a_recording_is_told_of_its_failure_and_goes_on(
    java: FakeJava,
) -> None:
    notes = Notes()
    await try_to_record(java, notes, TIER)
    [told] = notes.told
    assert told.startswith("Neo4j could not be prepared and will start more slowly: neo4j did not")


async def test_the_tier_is_given_neo4j_and_nothing_of_the_users_settings(
    java: FakeJava, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "the user's own")
    monkeypatch.setattr(FakeJava, "program", IDLE)
    told = tmp_path / "told"
    tier = replace(TIER, program=(sys.executable, "-c", TELLING, str(told)))
    recording = asyncio.create_task(record(java, Notes(), tier))
    await eventually(told.exists)
    recording.cancel()
    await asyncio.wait([recording])
    environment = json.loads(told.read_text())
    assert environment["NEO4J_URI"].startswith("bolt://127.0.0.1:")
    assert "LLM_API_KEY" not in environment


async def test_a_recording_that_is_given_up_ends_at_once_and_all_of_it(
    java: FakeJava, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    monkeypatch.setattr(FakeJava, "program", (sys.executable, "-c", FORKING, str(told)))
    recording = asyncio.create_task(record(java, Notes(), TIER))
    await eventually(lambda: told.exists() and told.read_text().count("\n") == 2)
    processes = [psutil.Process(int(pid)) for pid in told.read_text().split()]
    recording.cancel()
    with pytest.raises(asyncio.CancelledError):
        await recording
    await eventually(lambda: not any(map(alive, processes)))
    assert names(tmp_path) == [told.name]
