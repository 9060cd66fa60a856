"""One process of the stack: started with its log, found by its pid file, stopped within a time limit."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from deploy.local.credentials import write_private
from deploy.local.errors import NotRunningError, StartError
from deploy.local.waiting import Waiting

_LAUNCHER = Path(__file__).with_name("launch.py")
_LOOK = 1.0  # seconds between two looks at a process that is starting
_LOG_LIMIT = 10 * 2**20


@dataclass(frozen=True)
class Command:
    """A program to run: `stop_signal` requests a clean stop, `grace` is the time limit for it in seconds."""

    name: str
    program: Sequence[str]
    environment: Mapping[str, str]
    run: Path
    log: Path
    folder: Path | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 10.0
    user: str = ""
    pid_file: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pid_file", self.run / f"{self.name}.pid")


class Child:
    """A started process. It always ends when this process ends."""

    def __init__(self, command: Command, process: asyncio.subprocess.Process, begin: int) -> None:
        self.command = command
        self.begin = begin  # offset of its log in the file, after those of earlier starts
        self._process = process

    @classmethod
    async def start(cls, command: Command) -> "Child":
        """Start the program in its own session, so that a terminal's Ctrl-C reaches only this process."""
        _rotate(command.log)
        with open(os.open(command.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as log:  # noqa: ASYNC230, PTH123
            begin = log.tell()
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(_LAUNCHER)),
                *(str(os.getpid()), str(int(command.stop_signal)), command.user),
                *command.program,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=command.folder,
                env=dict(command.environment),
                start_new_session=True,
            )
        _remember(command.pid_file, process.pid)
        return cls(command, process, begin)

    @property
    def pid(self) -> int:
        """The process id, which does not change."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process.returncode is None

    async def wait(self) -> int:
        """Wait until the process has ended and return its exit code (minus the signal's number)."""
        return await self._process.wait()

    async def stop(self) -> None:
        """Request a clean stop; after the command's grace, kill the process and its children. Returns at its end."""
        self._send(self.command.stop_signal)
        try:
            # Not `asyncio.timeout`: in a task that was cancelled, early versions of Python 3.11 raise no TimeoutError.
            await asyncio.wait_for(self._process.wait(), self.command.grace)
        except TimeoutError:
            # Its own children would keep running.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            await self._process.wait()
        self.command.pid_file.unlink(missing_ok=True)

    async def kill(self) -> None:
        """Kill the process, as a crash would."""
        self._send(signal.SIGKILL)
        await self._process.wait()

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)


@contextlib.asynccontextmanager
async def ended(process: asyncio.subprocess.Process) -> AsyncIterator[None]:
    """Kill a helper process that is still running when the block is left, such as by cancellation."""
    try:
        yield
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def running(child: Child | None, name: str) -> Child:
    """Return the child if it runs.

    Raises:
        NotRunningError: it was not started, or has ended.
    """
    if child is None or not child.running:
        raise NotRunningError(f"{name} is not running")
    return child


async def until_ready(child: Child, ready: Coroutine[Any, Any, None], waiting: Waiting) -> None:
    """Wait for a probe that returns once the process is ready, for as long as the process advances.

    Raises:
        StartError: the process ended first, or is stuck.
    """
    probing, ended = asyncio.create_task(ready), asyncio.create_task(child.wait())
    try:
        while True:
            done, _ = await asyncio.wait(
                (probing, ended), timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED
            )
            if probing in done:
                return probing.result()
            _check_starting(child, waiting, ended.result() if ended in done else None)
    finally:
        probing.cancel()
        ended.cancel()
        await asyncio.gather(probing, ended, return_exceptions=True)


def _check_starting(child: Child, waiting: Waiting, code: int | None) -> None:
    command = child.command
    if code is not None:
        raise StartError(command.name, f"it ended with code {code}", command.log, child.begin)
    if waiting.is_stuck(child.pid, command.log):
        reason = f"it is stuck: no progress for minutes, {waiting.seconds:.0f} s after its start"
        raise StartError(command.name, reason, command.log, child.begin, waiting.detail)


async def run_to_end(command: Command) -> None:
    """Run a command that ends by itself, such as a setup.

    Raises:
        StartError: it ended with another code than 0, or is stuck.
    """
    child = await Child.start(command)
    try:
        await until_ready(child, _succeeds(child), Waiting(command.name))
    finally:
        await child.stop()


async def _succeeds(child: Child) -> None:
    if await child.wait() != 0:
        await asyncio.Event().wait()  # the caller notices and reports the end


async def end_leftover(command: Command) -> None:
    """Stop what an earlier, killed supervisor left running under this command's pid file."""
    process = _remembered(command.pid_file)
    if process is None:
        return
    await asyncio.to_thread(end_process, process, command.stop_signal, command.grace)
    command.pid_file.unlink(missing_ok=True)


def end_process(process: psutil.Process, number: signal.Signals, grace: float) -> None:
    """Signal a process, wait up to `grace` seconds, then kill it. Blocks."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)
        try:
            process.wait(grace)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(grace)


def _remember(path: Path, pid: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        created = psutil.Process(pid).create_time()
        write_private(path, json.dumps({"pid": pid, "created": created}))


def _remembered(path: Path) -> psutil.Process | None:
    """Return the process of a pid file, unless its id was reused by another process."""
    try:
        entry = json.loads(path.read_text())
        process = psutil.Process(entry["pid"])
    except (FileNotFoundError, psutil.NoSuchProcess):
        return None
    same = abs(process.create_time() - float(entry["created"])) < 1.0
    return process if same and process.status() != psutil.STATUS_ZOMBIE else None


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_name(f"{log.name}.1"))
