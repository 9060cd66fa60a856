"""Processes text in a child process, where work that takes too long can be stopped: a thread cannot be.

    worker = TextWorker("package.module", seconds=30)
    answer = await worker.ask({"text": text})

The module calls `answer_requests(handle)` when it is run. The child has no credentials, is confined, and stays warm.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.runtime.confinement import confine_process

if TYPE_CHECKING:
    from collections.abc import Callable

    Handle = Callable[[Any], Any]

_MAX_LINE = 64 * 1024 * 1024
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_NICENESS = 5
# A child is replaced after this many requests, so that memory leaks stay small.
_MAX_REQUESTS = 10_000


_ENDED = (EOFError, OSError, ValueError)


class WorkerFailedError(Exception):
    """The child has ended without an answer, or could not process the request."""


class TextWorker:
    """One child process of a module, started with the first request and again after it was stopped."""

    def __init__(self, module: str, *, seconds: float) -> None:
        self._module = module
        self._seconds = seconds
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, request: Any) -> Any:
        """Returns the module's answer to a JSON value; one request at a time.

        Raises TimeoutError after the time limit, which stops the child, and WorkerFailedError.
        """
        async with self._turn:
            process = await self._running()
            try:
                async with asyncio.timeout(self._seconds):
                    answer = await _exchange(process, request)
            except BaseException as error:
                # Also when the caller is cancelled: the answer would be taken for that of the next request.
                await self._stop()
                if isinstance(error, TimeoutError) or not isinstance(error, _ENDED):
                    raise
                raise WorkerFailedError("the process ended") from error
        if "error" in answer:
            raise WorkerFailedError(str(answer["error"]))
        return answer["answer"]

    async def close(self) -> None:
        """Ends the child."""
        async with self._turn:
            await self._stop()

    async def _running(self) -> Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", self._module),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={"PYTHONPATH": _import_path(), "PYTHONUTF8": "1"},
            limit=_MAX_LINE,
        )
        try:
            async with asyncio.timeout(_START_SECONDS):
                await _answer_of(self._process)
        except (TimeoutError, EOFError, ValueError) as error:
            await self._stop()
            raise WorkerFailedError("the process does not start") from error
        except BaseException:
            await self._stop()
            raise
        return self._process

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()


def _import_path() -> str:
    """Returns where this process imports from; an empty entry is its working folder."""
    return os.pathsep.join(str(Path(path).absolute()) for path in sys.path)


async def _exchange(process: Process, request: Any) -> dict[str, Any]:
    assert process.stdin is not None  # noqa: S101 - started with pipes
    process.stdin.write(json.dumps(request).encode() + b"\n")
    await process.stdin.drain()
    return await _answer_of(process)


async def _answer_of(process: Process) -> dict[str, Any]:
    assert process.stdout is not None  # noqa: S101 - started with pipes
    line = await process.stdout.readline()
    if not line:
        raise EOFError
    answer: dict[str, Any] = json.loads(line)
    return answer


def answer_requests(handle: Handle) -> None:
    """Answers requests on standard input until it ends. What `handle` imports must be imported before."""
    os.nice(_NICENESS)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    sys.stdout = sys.stderr  # what a library prints is no answer
    confine_process()
    _write(answers, {})
    for _, line in zip(range(_MAX_REQUESTS), sys.stdin, strict=False):
        try:
            _write(answers, {"answer": handle(json.loads(line))})
        except Exception as error:  # noqa: BLE001 - any failure of this request
            _write(answers, {"error": type(error).__name__})


def _write(answers: Any, values: dict[str, Any]) -> None:
    answers.write(json.dumps(values) + "\n")
    answers.flush()
