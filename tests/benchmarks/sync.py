"""`make bench NAME=sync`: a folder of 5,000 files kept in step, and ten runs that are killed.

Prints the documents per second of a first run beside `braid ingest`, the seconds of a run without changes and of one
with 50 changed files, and after ten killed runs how many documents are missing or stale, and how many were written
twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateway.cli.api import Api
from gateway.cli.sources.comparison import Comparison
from gateway.cli.sources.folder import Folder
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import running_stack

_FILES = 5_000
_CHANGED = 50
_KILLS = 10
# What every killed run leaves something of.
_CHANGED_WHILE_KILLED = 800
_DELETED_WHILE_KILLED = 100
_WORDS = (
    "harbour crane ledger winter signal copper valley engine mirror garden orbit paper silver thunder window "
    "compass bridge lantern meadow anchor velvet granite whistle cobalt timber saddle prairie beacon cellar marble"
)
_NAME = "notes"
_PREFIX = f"{_NAME}/"


async def run(options: Options) -> None:
    """Runs the command over a folder as a user would, and prints the figures."""
    picks = random.Random(options.seed)  # noqa: S311 - chooses test data
    figures = Figures(options.name)
    with TemporaryDirectory() as name:
        folder, other = Path(name) / _NAME, Path(name) / "other"
        for place in (folder, other):
            _write(place, range(_FILES), picks)
        async with running_stack() as stack:
            url = f"http://{stack.addresses['gateway']}"
            seconds, _ = await _braid(url, "sync", folder)
            figures.put("first_docs_per_s", _FILES / seconds, "documents/s")
            seconds, _ = await _braid(url, "ingest", other)
            figures.put("ingest_docs_per_s", _FILES / seconds, "documents/s")
            seconds = min([(await _braid(url, "sync", folder))[0] for _ in range(3)])
            figures.put("unchanged_s", seconds, "s")
            _write(folder, picks.sample(range(_FILES), _CHANGED), picks)
            seconds, report = await _braid(url, "sync", folder)
            if len(report["changed"]) != _CHANGED:
                raise MeasureError(f"{len(report['changed'])} files were taken for changed")
            figures.put("changed_s", seconds, "s")
            lost, doubled = await _killed(url, folder, picks)
    figures.put("lost", lost, "documents")
    figures.put("doubled", doubled, "documents")


async def _killed(url: str, folder: Path, picks: random.Random) -> tuple[int, int]:
    """Kills runs at random moments, then lets one end; returns how many documents are wrong, and written twice."""
    touched = picks.sample(range(_FILES), _CHANGED_WHILE_KILLED + _DELETED_WHILE_KILLED)
    before = await asyncio.to_thread(_versions, url)
    _write(folder, touched[:_CHANGED_WHILE_KILLED], picks)
    for number in touched[_CHANGED_WHILE_KILLED:]:
        _file(folder, number).unlink()
    for _ in range(_KILLS):
        process = await _started(url, "sync", folder)
        try:
            async with asyncio.timeout(picks.uniform(0.5, 4.0)):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.communicate()
    await _braid(url, "sync", folder)
    stored, after = await asyncio.to_thread(lambda: (_metadata(url), _versions(url)))
    listing = await asyncio.to_thread(Folder(folder, _PREFIX).listing, stored)
    compared = Comparison.of(listing, stored)
    lost = len(compared.new) + len(compared.changed) + len(compared.vanished)
    changed = {f"{_PREFIX}{_file(folder, one).name}" for one in touched[:_CHANGED_WHILE_KILLED]}
    doubled = sum(after[one] > before[one] + (one in changed) for one in after)
    return lost, doubled


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:04}.md"


def _write(folder: Path, numbers: Any, picks: random.Random) -> None:
    folder.mkdir(exist_ok=True)
    words = _WORDS.split()
    for number in numbers:
        text = " ".join(picks.choices(words, k=60))
        _file(folder, number).write_text(f"# Note {number}\n\nThe {text}.\n")


async def _braid(url: str, command: str, folder: Path) -> tuple[float, dict[str, Any]]:
    """Runs the command to its end; returns the seconds and its report."""
    began = time.perf_counter()
    process = await _started(url, command, folder)
    out, _ = await process.communicate()
    seconds = time.perf_counter() - began
    if process.returncode:
        raise MeasureError(f"braid {command} ended with code {process.returncode}")
    note(f"braid {command} {folder.name}: {seconds:.1f} s")
    report: dict[str, Any] = json.loads(out)
    return seconds, report


async def _started(url: str, command: str, folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway.cli", command, str(folder), "--json"),
        env={**os.environ, "BRAID_URL": url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )


def _documents(url: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    cursor: str | None = None
    with Api(url) as api:
        while True:
            page = api.get("/api/documents", prefix=_PREFIX, limit=200, cursor=cursor)
            found += page["documents"]
            cursor = page["next_cursor"]
            if not cursor:
                return found


def _versions(url: str) -> dict[str, int]:
    return {one["id"]: one["version"] for one in _documents(url)}


def _metadata(url: str) -> dict[str, Mapping[str, Any]]:
    return {one["id"]: one["metadata"] for one in _documents(url)}
