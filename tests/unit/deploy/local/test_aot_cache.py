"""An AOT cache is complete or absent, and Neo4j also starts without one."""

import asyncio
import shutil
import sys
from pathlib import Path

import psutil
import pytest

from deploy.local.aot_cache import create_aot_cache
from deploy.local.errors import LocalStackError, StartError
from deploy.local.jars import JarCache
from deploy.local.java import Java
from deploy.local.neo4j import Neo4j
from tests.unit.deploy.local.waiting import alive, eventually

WRITING = "import sys; open(sys.argv[1], 'w').write('cache')"
FAILING = "import sys; open(sys.argv[1], 'w').write('ca'); sys.exit(3)"
# Forks a child, writes both process ids, and ignores SIGTERM.
FORKING = (
    "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork(); "
    "open(sys.argv[1] + '.pids', 'a').write(f'{os.getpid()}\\n'); signal.pause()"
)


class FakeJava(Java):
    """Runs a given Python program in place of the one that creates a cache."""

    code: str = WRITING

    def admin(self, *arguments: str) -> list[str]:
        return [shutil.which("true") or ""]

    def server(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", "raise SystemExit(4)"]

    def recording(self, output: Path, *arguments: str) -> list[str]:
        return [sys.executable, "-c", "raise SystemExit(5)"]

    def creation(self, recording: Path, output: Path) -> list[str]:
        return [sys.executable, "-c", self.code, str(output)]


@pytest.fixture
def java(tmp_path: Path) -> FakeJava:
    """A fake Java whose cache is in an empty folder."""
    folder = tmp_path / "cache"
    folder.mkdir()
    return FakeJava(JarCache(folder / "jars", ()), folder / "neo4j.aot")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "recording.aotconf"
    path.touch()
    return path


async def create(java: Java, recording: Path) -> None:
    folder = recording.parent
    await create_aot_cache(java, recording, run=folder, log=folder / "java.log")


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_recording_is_turned_into_a_cache_and_removed(
    java: FakeJava, recording: Path
) -> None:
    await create(java, recording)
    assert java.aot_cache.read_text() == "cache"
    assert names(java.aot_cache.parent) == [java.aot_cache.name]
    assert recording.name not in names(recording.parent)


async def test_stacks_that_create_the_cache_concurrently_do_not_interfere(
    java: FakeJava, tmp_path: Path
) -> None:
    recordings = [tmp_path / str(place) / "recording" for place in range(3)]
    for path in recordings:
        path.parent.mkdir()
        path.touch()
    await asyncio.gather(*(create(java, path) for path in recordings))
    assert java.aot_cache.read_text() == "cache"
    assert names(java.aot_cache.parent) == [java.aot_cache.name]


@pytest.mark.parametrize(
    ("code", "reason"), [(FAILING, "Java ended with code 3"), ("", "No such file")]
)
async def test_a_failed_creation_leaves_no_cache(
    java: FakeJava, recording: Path, monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    monkeypatch.setattr(FakeJava, "code", code)
    with pytest.raises((LocalStackError, OSError), match=reason):
        await create(java, recording)
    assert names(java.aot_cache.parent) == []
    assert recording.name not in names(recording.parent)


async def test_a_cancelled_creation_ends_all_its_processes_and_leaves_no_files(
    java: FakeJava, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeJava, "code", FORKING)
    creating = asyncio.create_task(create(java, recording))

    def ids() -> list[int]:
        written = "".join(path.read_text() for path in java.aot_cache.parent.glob("*/*.pids"))
        return [int(line) for line in written.split()]

    await eventually(lambda: len(ids()) == 2)
    processes = [psutil.Process(pid) for pid in ids()]
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    await eventually(lambda: not any(map(alive, processes)))
    assert names(java.aot_cache.parent) == []
    assert recording.name not in names(recording.parent)


@pytest.mark.parametrize(
    ("record", "cached", "code"), [(True, False, 5), (True, True, 4), (False, False, 4)]
)
async def test_neo4j_records_only_if_enabled_and_no_cache_exists(
    java: FakeJava, tmp_path: Path, record: bool, cached: bool, code: int
) -> None:
    if cached:
        java.aot_cache.touch()
    for part in ("logs", "run"):
        (tmp_path / part).mkdir()
    server = Neo4j(tmp_path, java, record=record)
    with pytest.raises(StartError, match=f"it ended with code {code}"):
        await server.start()
    await server.stop()
    assert not server.recording
    assert await server.recorded() is None
