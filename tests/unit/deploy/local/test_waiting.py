"""A start waits for as long as its process advances, says what for, and names the cause when it fails."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from deploy.local.child_process import Child, Command, until_ready
from deploy.local.errors import StartError, last_words
from deploy.local.progress import ConsoleProgress
from deploy.local.waiting import Waiting

JAVA_TRACE = """ERROR Failed to start
java.lang.RuntimeException: Error starting
\tat a.b(C.java)
Caused by: java.lang.RuntimeException: Transaction logs are missing
\tat x
\t... 3 more
"""


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def never() -> None:
    await asyncio.Event().wait()


async def started(folder: Path, code: str) -> Child:
    program = (sys.executable, "-c", code)
    return await Child.start(Command("one", program, {}, folder, folder / "one.log", grace=0.0))


async def test_a_process_that_does_nothing_is_reported_as_stuck(tmp_path: Path) -> None:
    child = await started(tmp_path, "import time; time.sleep(1000)")
    waiting = Waiting("one", stuck_seconds=3.0)
    waiting.report("it waits for a file")
    try:
        async with asyncio.timeout(60):
            with pytest.raises(StartError, match=r"one did not start: it is stuck.*waits for a fi"):
                await until_ready(child, never(), waiting)
    finally:
        await child.stop()


async def test_a_busy_process_is_never_stuck(tmp_path: Path) -> None:
    child = await started(tmp_path, "while True: pass")
    clock = Clock()
    waiting = Waiting("one", stuck_seconds=3.0, clock=clock)
    try:
        for _ in range(5):
            await _wait_for_cpu(child.pid)
            clock.now += 2.9
            assert not waiting.is_stuck(child.pid, tmp_path / "one.log")
    finally:
        await child.stop()


async def _wait_for_cpu(pid: int) -> None:
    process = psutil.Process(pid)
    before = process.cpu_times().user
    while process.cpu_times().user < before + 0.3:  # noqa: ASYNC110 - another process's time
        await asyncio.sleep(0.02)


async def test_new_lines_in_the_log_and_new_reports_are_progress(tmp_path: Path) -> None:
    child = await started(tmp_path, "import time; time.sleep(1000)")
    clock, log = Clock(), tmp_path / "other.log"
    waiting = Waiting("one", stuck_seconds=3.0, clock=clock)
    try:
        for number in range(4):
            clock.now += 2.9
            if number % 2:
                waiting.report(f"step {number}")
            else:
                log.write_text("x" * (number + 1))
            assert not waiting.is_stuck(child.pid, log)
        clock.now += 2.9
        assert not waiting.is_stuck(child.pid, log)
        clock.now += 2.9
        assert waiting.is_stuck(child.pid, log)
    finally:
        await child.stop()


def test_a_process_that_waits_for_another_one_is_not_stuck(tmp_path: Path) -> None:
    clock = Clock()
    waiting = Waiting("one", blocked=lambda: True, stuck_seconds=3.0, clock=clock)
    clock.now = 1000.0
    assert not waiting.is_stuck(0, tmp_path / "none")


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        (
            "Traceback (most recent call last):\n  File x\nOSError: no space left\n",
            "OSError: no space left",
        ),
        (
            json.dumps({"event": "no schema", "error": "TimeoutError"}) + "\n",
            "no schema: TimeoutError",
        ),
        (
            JAVA_TRACE,
            "java.lang.RuntimeException: Transaction logs are missing",
        ),
        ("BRAID_AGENT_DATABASE_URL is needed\n\n", "BRAID_AGENT_DATABASE_URL is needed"),
        ("[1, 2]\n", "[1, 2]"),
        ("", ""),
    ],
)
def test_the_cause_of_an_end_is_one_line_without_a_traceback(
    tmp_path: Path, log: str, cause: str
) -> None:
    path = tmp_path / "one.log"
    path.write_text("an earlier start\n" + log)
    assert last_words(path, len("an earlier start\n")) == cause
    assert "\n" not in str(StartError("one", "it ended with code 1", path))


def test_a_terminal_shows_one_updating_line_until_the_start_has_ended() -> None:
    output = io.StringIO()
    with ConsoleProgress(Console(file=output, force_terminal=True, width=200)) as shown:
        shown.waits(["neo4j (3 s)"])
        shown.waits(["neo4j (4 s: its first start)"])
        shown.waits([])
    erased = "\x1b[1A\x1b[2K"
    assert "Waiting for neo4j (4 s: its first start) …" in output.getvalue()
    assert output.getvalue().endswith(erased)


def test_without_a_terminal_a_long_wait_is_shown_in_plain_lines() -> None:
    clock, output = Clock(), io.StringIO()
    clock.now = 1.0
    with ConsoleProgress(Console(file=output, width=200), clock) as shown:
        for second in range(65):
            clock.now = 1.0 + second
            shown.waits([f"neo4j ({second} s)"])
        shown.waits([])
    assert output.getvalue().splitlines() == [
        "Waiting for neo4j (30 s) …",
        "Waiting for neo4j (60 s) …",
    ]
