"""Processes text in child processes, where work that takes too long can be stopped: a thread cannot be.

    workers = TextWorkers("package.module", seconds=30, processes=2)
    answer = await workers.ask({"text": text})

The module calls `answer_requests(handle)` when it is run. A child has no credentials, is confined, and stays warm. What
it needs while it works, such as a look-up in a store, it asks its parent for: `handle` is then a coroutine function
that awaits `call(name, arguments)`, and another request is processed meanwhile.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.runtime.confinement import confine_process

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

    Handle = Callable[[Any], Any]
    Work = Coroutine[Any, Any, Any]

Calls = Mapping[str, Callable[..., Awaitable[Any]]]
"""What the work on a request may ask its parent for, by name; arguments and results are JSON values."""

_MAX_LINE = 64 * 1024 * 1024
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_NICENESS = 5
# A child is replaced after this many requests, so that memory leaks stay small.
_MAX_REQUESTS = 10_000
# Requests that wait for their parent; of more, the oldest begin again.
_MAX_WAITING = 256


_ENDED = (EOFError, OSError, ValueError)


class WorkerFailedError(Exception):
    """The child has ended without an answer, or could not process the request."""


class _InterruptedError(Exception):
    """The child was replaced while the request waited for its parent: it may begin again."""


class TextWorkers:
    """The child processes of a module; each is started with the first request that finds the others at work."""

    def __init__(self, module: str, *, seconds: float, processes: int = 1) -> None:
        """`seconds` limits each uninterrupted part of the work on a request."""
        self._workers = [TextWorker(module, seconds=seconds) for _ in range(processes)]

    async def ask(self, request: Any, calls: Calls | None = None) -> Any:
        """Returns the module's answer to a JSON value. See `TextWorker.ask`."""
        return await min(self._workers, key=lambda worker: worker.load).ask(request, calls)

    async def start(self) -> None:
        """Starts the first process. Raises WorkerFailedError."""
        await self._workers[0].start()

    async def close(self) -> None:
        """Ends the children."""
        for worker in self._workers:
            await worker.close()


class TextWorker:
    """One child process of a module, started with the first request and again after it was stopped."""

    def __init__(self, module: str, *, seconds: float) -> None:
        self._module = module
        self._seconds = seconds
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._numbers = itertools.count()
        self._exchanges: set[asyncio.Task[tuple[Process, dict[str, Any]]]] = set()

    @property
    def load(self) -> int:
        """The number of parts of requests that are processed or wait for it."""
        return len(self._exchanges)

    async def ask(self, request: Any, calls: Calls | None = None) -> Any:
        """Returns the module's answer to a JSON value; `calls` are what the module may ask for.

        Raises TimeoutError when the time limit is exceeded, which stops the child, WorkerFailedError, and what a call
        raises. A request that waits for a call while another one stops the child begins again, once.
        """
        with suppress(_InterruptedError):
            return await self._answered(request, calls or {})
        try:
            return await self._answered(request, calls or {})
        except _InterruptedError as error:
            raise WorkerFailedError("the process was stopped") from error

    async def start(self) -> None:
        """Starts the child. Raises WorkerFailedError."""
        async with self._turn:
            await self._running()

    async def close(self) -> None:
        """Ends the child."""
        async with self._turn:
            await self._stop()

    async def _answered(self, request: Any, calls: Calls) -> Any:
        number = next(self._numbers)
        process, reply = await self._exchanged({"number": number, "request": request}, None)
        while "call" in reply:
            name, arguments = reply["call"]
            result = await calls[name](*arguments)
            process, reply = await self._exchanged({"number": number, "result": result}, process)
        if "interrupted" in reply:
            raise _InterruptedError
        if "error" in reply:
            raise WorkerFailedError(str(reply["error"]))
        return reply["answer"]

    async def _exchanged(
        self, message: Any, process: Process | None
    ) -> tuple[Process, dict[str, Any]]:
        """Sends a message and returns the reply, also if the caller is cancelled: the next reply is the next one's."""
        exchange = asyncio.create_task(self._exchange(message, process), name="text-worker")
        self._exchanges.add(exchange)
        exchange.add_done_callback(self._ended)
        return await asyncio.shield(exchange)

    def _ended(self, exchange: asyncio.Task[tuple[Process, dict[str, Any]]]) -> None:
        self._exchanges.discard(exchange)
        if not exchange.cancelled():
            exchange.exception()  # A cancelled caller does not retrieve it.

    async def _exchange(
        self, message: Any, begun_in: Process | None
    ) -> tuple[Process, dict[str, Any]]:
        async with self._turn:
            process = await self._running()
            if begun_in not in (None, process):
                raise _InterruptedError
            try:
                async with asyncio.timeout(self._seconds):
                    reply = await _reply(process, message)
            except BaseException as error:
                await self._stop()
                if isinstance(error, TimeoutError) or not isinstance(error, _ENDED):
                    raise
                raise WorkerFailedError("the process ended") from error
            if reply.get("is_last"):
                await self._stop()
            return process, reply

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


async def _reply(process: Process, message: Any) -> dict[str, Any]:
    assert process.stdin is not None  # noqa: S101 - started with pipes
    process.stdin.write(json.dumps(message).encode() + b"\n")
    await process.stdin.drain()
    return await _answer_of(process)


async def _answer_of(process: Process) -> dict[str, Any]:
    assert process.stdout is not None  # noqa: S101 - started with pipes
    line = await process.stdout.readline()
    if not line:
        raise EOFError
    answer: dict[str, Any] = json.loads(line)
    return answer


async def call(name: str, *arguments: Any) -> Any:
    """Returns the parent's answer to a call; only while a request is processed. Arguments are JSON values."""
    return await _Call(name, arguments)


class _Call:
    """Suspends the work on a request until its parent has answered."""

    def __init__(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.name = name
        self.arguments = arguments

    def __await__(self) -> Generator[_Call, Any, Any]:
        return (yield self)


def answer_requests(handle: Handle) -> None:
    """Answers requests on standard input until it ends. What `handle` imports must be imported before."""
    os.nice(_NICENESS)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    sys.stdout = sys.stderr  # what a library prints is no answer
    confine_process()
    _write(answers, {})
    waiting: OrderedDict[int, Work] = OrderedDict()
    for place, line in zip(range(_MAX_REQUESTS), sys.stdin, strict=False):
        reply = _processed(json.loads(line), handle, waiting)
        _write(answers, reply | {"is_last": place + 1 == _MAX_REQUESTS})


def _processed(
    message: Mapping[str, Any], handle: Handle, waiting: OrderedDict[int, Work]
) -> dict[str, Any]:
    """Processes a new request, or goes on with one that waits; returns its answer, its next call, or its failure."""
    number = message["number"]
    try:
        if "request" in message:
            work, given = handle(message["request"]), None
        else:
            work, given = waiting.pop(number, None), message["result"]
            if work is None:
                return {"interrupted": True}
        if not inspect.iscoroutine(work):
            return {"answer": work}
        needed = work.send(given)
    except StopIteration as end:
        return {"answer": end.value}
    except Exception as error:  # noqa: BLE001 - any failure of this request
        return {"error": _place(error)}
    waiting[number] = work
    if len(waiting) > _MAX_WAITING:
        waiting.popitem(last=False)[1].close()
    return {"call": [needed.name, needed.arguments]}


def _place(error: Exception) -> str:
    """Returns what failed and where, without any text that is processed."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (
        "" if trace is None else f" ({trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno})"
    )
    return f"{type(error).__name__}{where}"


def _write(answers: Any, values: dict[str, Any]) -> None:
    answers.write(json.dumps(values) + "\n")
    answers.flush()
