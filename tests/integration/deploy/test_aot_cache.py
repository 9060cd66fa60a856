"""The first normal stop of a recording Neo4j makes an AOT cache; a crash or an invalid file only costs startup time."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local.aot_cache import create_aot_cache
from deploy.local.jars import default_cache, neo4j_jars
from deploy.local.java import ADMIN, SERVER, Java
from deploy.local.stores import LocalStores
from tests.recorded_progress import Notes
from tests.stores import data_folder

# Recording a whole server takes too long for a test, so this one runs as usual and writes an empty file.
TOUCH = "import os, sys; open(sys.argv[1], 'w').close(); os.execv(sys.argv[2], sys.argv[2:])"
COPY = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"


class QuickJava(Java):
    """Runs the server as usual and writes empty files as its recording and cache."""

    def server(self, *arguments: str) -> list[str]:
        return Java.from_jars(self.jars).server(*arguments)

    def recording(self, output: Path, *arguments: str) -> list[str]:
        return [sys.executable, "-c", TOUCH, str(output), *self.server(*arguments)]

    def creation(self, recording: Path, output: Path) -> list[str]:
        return [sys.executable, "-c", COPY, str(recording), str(output)]


def options_before(command: list[str], *options: str) -> list[str]:
    return [command[0], *options, *command[1:]]


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.timeout(180)
async def test_a_normal_stop_creates_the_cache_and_a_crash_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = QuickJava(neo4j_jars(default_cache(os.environ)), tmp_path / "neo4j.aot")
    monkeypatch.setattr("deploy.local.stores.Java.from_jars", lambda _: java)
    notes = Notes()
    with data_folder() as data:
        stores = LocalStores(data, progress=notes, record=True)
        stores.prepare()
        await stores.fetch()
        monkeypatch.undo()
        try:
            await stores.neo4j.start()
            await stores.neo4j.kill()
            await stores.create_aot_cache()
            assert (notes.messages, java.aot_cache.exists()) == ([], False)
            await stores.neo4j.start()
        finally:
            await stores.stop()
        await stores.create_aot_cache()
        assert java.aot_cache.exists()
        assert len(notes.messages) == 1
        await stores.create_aot_cache()  # the recording is gone by now
        assert len(notes.messages) == 1


async def test_java_accepts_a_cache_created_from_a_recording(tmp_path: Path) -> None:
    java = Java(neo4j_jars(default_cache(os.environ)), tmp_path / "neo4j.aot")
    recording = tmp_path / "recording.aotconf"
    recorder = (part.replace(SERVER, ADMIN) for part in java.recording(recording, "--version"))
    recorded = await asyncio.to_thread(run, list(recorder))
    assert recorded.returncode == 0, recorded.stderr
    await create_aot_cache(java, recording, run=tmp_path, log=tmp_path / "java.log")
    # In this mode Java exits if it cannot use the file.
    strict = options_before(java.admin("--version"), "-XX:AOTMode=on")
    used = await asyncio.to_thread(run, strict)
    assert used.returncode == 0, used.stdout + used.stderr


@pytest.mark.parametrize("content", [b"", b"no cache at all" * 1000])
def test_java_ignores_an_invalid_cache_unless_the_cache_is_required(
    tmp_path: Path, content: bytes
) -> None:
    java = Java(neo4j_jars(default_cache(os.environ)), tmp_path / "neo4j.aot")
    java.aot_cache.write_bytes(content)
    assert run(java.admin("--version")).returncode == 0
    refused = run(options_before(java.admin("--version"), "-XX:AOTMode=on"))
    assert refused.returncode != 0
