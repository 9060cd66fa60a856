"""`make bench NAME=export`: a space with 20,000 passages and facts is exported, deleted and imported.

Prints whether rows and answers are the same afterwards, although ten exports and ten imports were killed; how many rows
are missing; how much longer a write takes during an export; and documents and facts per second of an export and of an
import. `MODE=<count>` is another size.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from gateway.cli.api import Api
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import running_stack

_COUNT = 20_000
_KILLS = 10
_FACTS_A_POST = 500
# The other facts were never changed after they were stated.
_ENDED_EVERY = 10
_QUESTIONS = 40
_WRITES = 20
_WORDS = ("harbour", "crane", "ledger", "winter", "signal", "copper", "valley", "engine", "mirror")
_TIMES = ("2024-06-01T00:00:00Z", None)


class Moved(NamedTuple):
    """Seconds of an export and of an import without interruption."""

    export: float
    imported: float


async def run(options: Options) -> None:
    """Moves a space as an operator would, and prints the figures."""
    count = _COUNT if options.mode == "all" else _number(options.mode)
    picks = random.Random(options.seed)  # noqa: S311 - chooses test data
    figures = Figures(options.name)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with running_stack() as stack:
            url = f"http://{stack.addresses['gateway']}"
            os.environ["BRAID_API_KEY"] = await asyncio.to_thread(_own_key, stack.data)
            await _fill(url, folder / "notes", count, picks)
            paused = await _paused(url, folder / "disturbed")
            before = await asyncio.to_thread(_answers, url)
            usage = await asyncio.to_thread(_usage, url)
            moved, identical = await _moved(url, folder, picks)
            again = await asyncio.to_thread(_answers, url)
            lost = sum((usage - await asyncio.to_thread(_usage, url)).values())
    note(
        f"{sum(a != b for a, b in zip(before, again, strict=True))} of {len(before)} answers differ"
    )
    figures.put("identical", int(identical and again == before), "")
    figures.put("lost", lost, "rows")
    figures.put("writes_paused_ms", paused * 1000, "ms")
    figures.put("docs_per_s", count / moved.export, "documents/s")
    figures.put("facts_per_s", count / moved.export, "facts/s")
    figures.put("import_docs_per_s", count / moved.imported, "documents/s")
    figures.put("import_facts_per_s", count / moved.imported, "facts/s")


async def _moved(url: str, folder: Path, picks: random.Random) -> tuple[Moved, bool]:
    """Exports, deletes and imports the space twice: once without interruption, and once killed again and again."""
    seconds: list[Moved] = []
    identical = True
    for kills, archive in ((0, folder / "whole"), (_KILLS, folder / "killed")):
        # Moments of the kills: a run that goes on where the last one was needs less than a whole one.
        whole = seconds[0] if seconds else Moved(0, 0)
        exported = await _until_done(
            url, "export", archive, [picks.uniform(0, whole.export) for _ in range(kills)]
        )
        await _braid(url, "space", "delete", "local")
        imported = await _until_done(
            url, "import", archive, [picks.uniform(0, whole.imported) for _ in range(kills)]
        )
        report = await _braid(url, "space", "verify", str(archive))
        identical = identical and report["identical"]
        for one in report["different"]:
            note(f"different: {one}")
        seconds.append(Moved(exported, imported))
    return seconds[0], identical


async def _until_done(url: str, command: str, archive: Path, kills: Sequence[float]) -> float:
    """Runs a command to its end after killing it at these seconds; returns the seconds of the last run."""
    for moment in kills:
        process = await _started(url, "space", command, str(archive))
        try:
            async with asyncio.timeout(moment):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.communicate()
        if process.returncode == 0:  # It had ended before.
            return 0.0
    began = time.perf_counter()
    await _braid(url, "space", command, str(archive))
    seconds = time.perf_counter() - began
    note(f"braid space {command}: {seconds:.1f} s")
    return seconds


async def _paused(url: str, archive: Path) -> float:
    """Returns how much longer the slowest write during an export took than writes usually do, in seconds."""
    usual = [await asyncio.to_thread(_write, url, number) for number in range(_WRITES)]
    process = await _started(url, "space", "export", str(archive))
    during = [await asyncio.to_thread(_write, url, number) for number in range(_WRITES)]
    process.kill()
    await process.communicate()
    return max(0.0, max(during) - median(usual))


def _write(url: str, number: int) -> float:
    """Writes a fact; returns the seconds."""
    fact = {
        "subject": "Writer",
        "relation": "COUNTS",
        "object": "Writes",
        "fact": f"Write {number}.",
    }
    began = time.perf_counter()
    with Api(url, os.environ["BRAID_API_KEY"]) as api:
        api.post("/api/facts", {"facts": [fact]})
    return time.perf_counter() - began


async def _fill(url: str, folder: Path, count: int, picks: random.Random) -> None:
    await asyncio.to_thread(_write_notes, folder, count, picks)
    await _braid(url, "ingest", str(folder))
    await asyncio.to_thread(_add_facts, url, count, picks)


def _write_notes(folder: Path, count: int, picks: random.Random) -> None:
    folder.mkdir()
    for number in range(count):
        text = " ".join(picks.choices(_WORDS, k=40))
        (folder / f"{number:05}.md").write_text(f"# Note {number}\n\nThe {text}.\n")


def _add_facts(url: str, count: int, picks: random.Random) -> None:
    facts = [
        {
            "subject": f"Person {picks.randrange(count // 5)}",
            "relation": "OWNS",
            "object": f"Thing {number}",
            "fact": f"Thing {number} has an owner.",
            "valid_at": f"2024-0{picks.randrange(1, 10)}-01",
        }
        for number in range(count)
    ]
    ended = [one | {"invalid_at": "2025-01-01"} for one in facts[::_ENDED_EVERY]]
    with Api(url, os.environ["BRAID_API_KEY"]) as api:
        for given in (facts, ended):
            for start in range(0, len(given), _FACTS_A_POST):
                api.post("/api/facts", {"facts": given[start : start + _FACTS_A_POST]})


def _answers(url: str) -> list[Any]:
    """What the space answers now and as of an earlier time, from exact searches: vector indexes are approximate."""
    found: list[Any] = []
    with Api(url, os.environ["BRAID_API_KEY"]) as api:
        for number in range(_QUESTIONS):
            query = f"{_WORDS[number % len(_WORDS)]} {number}"
            for as_of in _TIMES:
                answer = api.query(
                    "/api/search/text", {"query": query, "limit": 10, "as_of": as_of}
                )
                found.append(answer["results"])
                facts = api.get("/api/facts", subject=f"Person {number}", as_of=as_of, limit=100)
                found.append(facts["facts"])
    return found


def _usage(url: str) -> Counter[tuple[str, str]]:
    """Rows by store and kind; jobs are not exported."""
    with Api(url, os.environ["BRAID_API_KEY"]) as api:
        stored = api.get("/api/space")["stored"]
    return Counter(
        {(one["store"], one["kind"]): one["count"] for one in stored if one["kind"] != "jobs"}
    )


def _own_key(data: Path) -> str:
    """The key of the stack's own `braid` command, which may act for all users of the space."""
    keys: dict[str, str] = json.loads((data / "keys.credentials.json").read_text())
    return keys["cli"]


def _number(mode: str) -> int:
    if not mode.isdigit() or int(mode) < _FACTS_A_POST:
        raise UsageError(f"MODE must be a number of at least {_FACTS_A_POST}")
    return int(mode)


async def _braid(url: str, *words: str) -> Any:
    """Runs a command to its end; returns its answer."""
    process = await _started(url, *words)
    out, _ = await process.communicate()
    if process.returncode:
        raise MeasureError(
            f"braid {' '.join(words)} ended with code {process.returncode}: {out.decode()}"
        )
    return json.loads(out)


async def _started(url: str, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway.cli", *words, "--json"),
        env={**os.environ, "BRAID_URL": url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
