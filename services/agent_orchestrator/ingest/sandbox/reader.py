"""Parses uploads for workers: light ones in a thread, others in child processes that may crash.

    async with open_parsers() as parsers:
        async for part in parsers.parse(upload): ...    # several documents at a time, in order

The same upload yields the same number of outcomes each time: one for each document, readable or not.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from opentelemetry.metrics import Observation

import services
from services.agent_orchestrator.ingest.content_types import MAILBOX
from services.agent_orchestrator.ingest.documents import (
    BEGINNING,
    Limits,
    ParsedDocument,
    Place,
    Rejected,
    UnreadableError,
    Upload,
)
from services.agent_orchestrator.ingest.formats.mailbox import split_mailbox
from services.agent_orchestrator.ingest.formats.parsing import is_light, parse
from services.agent_orchestrator.ingest.sandbox.frames import (
    MAX_FRAME,
    OUT_OF_MEMORY,
    PREFIX,
    frame,
    json_frame,
    out_of_memory,
    read_document,
    read_rejected,
    request_header,
)
from services.runtime.confinement import Confinement
from services.runtime.instruments import READER_PROTECTIONS, gauge
from services.runtime.telemetry import get_logger

_MODULE = "services.agent_orchestrator.ingest.sandbox.child"
_BUFFER = 1024 * 1024
# For a child that neither ends nor answers; on a slow machine its imports take minutes.
_START_SECONDS = 600.0
# The limit of a file is one of processor time, which the kernel enforces. This multiple of it is the limit of real
# time: a child on a busy machine gets as little as a twentieth of a processor.
_SLOWEST = 20
_STOP_SECONDS = 5.0
_NONSENSE = (ValueError, TypeError, KeyError, UnreadableError)


class ReaderStoppedError(Exception):
    """The child has ended: `reason` says why, for the user who sent the file, if it had `begun` with the request."""

    def __init__(self, reason: str, *, begun: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.begun = begun


class ReaderProcess:
    """A child and its pipes. Unusable after ReaderStoppedError or after a read that was interrupted."""

    def __init__(self, process: Process, folder: Path) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process has no pipes")
        self._process = process
        self._folder = folder
        self._requests = process.stdin
        self._answers = process.stdout
        self._begun = False
        self.confinement = Confinement()

    @classmethod
    async def start(cls) -> ReaderProcess:
        """Starts a child without this process's environment, which has credentials. Raises RuntimeError on failure."""
        folder = Path(await asyncio.to_thread(mkdtemp, prefix="braid-reader-"))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            _MODULE,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd=folder,
            env={"PYTHONPATH": os.pathsep.join(_import_path()), "PYTHONUTF8": "1"},
            limit=_BUFFER,
        )
        child = cls(process, folder)
        try:
            async with asyncio.timeout(_START_SECONDS):
                child.confinement = _confinement(await child._frame())
        except (TimeoutError, EOFError, *_NONSENSE) as error:
            await child.stop()
            raise RuntimeError("the process that reads files does not start") from error
        except BaseException:
            await child.stop()
            raise
        return child

    async def read(
        self, upload: Upload, limits: Limits
    ) -> tuple[Sequence[ParsedDocument | Rejected], bool]:
        """Returns the outcomes, and whether the child can read another. Raises ReaderStoppedError on failure."""
        self._begun = False
        try:
            async with asyncio.timeout(limits.seconds * _SLOWEST):
                return await self._exchange(upload, limits)
        except TimeoutError:
            reason = f"takes over {limits.seconds:g} seconds to be read"
            raise ReaderStoppedError(reason) from None
        except (EOFError, OSError):
            raise await self._ended(limits) from None
        except _NONSENSE:
            raise ReaderStoppedError("made its reader answer nonsense") from None

    async def stop(self) -> None:
        """Kills the child, waits for its end and removes its working folder."""
        with suppress(ProcessLookupError):
            self._process.kill()
        async with asyncio.timeout(_STOP_SECONDS):
            await self._process.wait()
        await asyncio.to_thread(rmtree, self._folder, ignore_errors=True)

    async def _exchange(
        self, upload: Upload, limits: Limits
    ) -> tuple[Sequence[ParsedDocument | Rejected], bool]:
        self._requests.write(json_frame(request_header(upload, limits)))
        self._requests.write(frame(upload.data))
        await self._requests.drain()
        outcomes: list[ParsedDocument | Rejected] = []
        while True:
            answer = json.loads(await self._frame())
            self._begun = True
            if "begun" in answer:
                continue
            if "document" in answer:
                outcomes.append(await self._document(answer["document"]))
            elif "rejected" in answer:
                outcomes.append(read_rejected(answer["rejected"]))
            else:
                return outcomes, self._goes_on(answer)

    async def _document(self, header: dict[str, Any]) -> ParsedDocument:
        text = await self._frame()
        return await asyncio.to_thread(read_document, header, text)

    def _goes_on(self, answer: dict[str, Any]) -> bool:
        if answer["end"]:
            get_logger("ingest").warning("a parser failed", error=str(answer["end"])[:100])
        return not answer["last"]

    async def _frame(self) -> bytes:
        size = int.from_bytes(await self._answers.readexactly(PREFIX), "big")
        if size > MAX_FRAME:
            raise ValueError("a frame is too long")
        return await self._answers.readexactly(size)

    async def _ended(self, limits: Limits) -> ReaderStoppedError:
        """Returns why there was no answer, from the child's exit status."""
        async with asyncio.timeout(_STOP_SECONDS):
            code = await self._process.wait()
        if code == -signal.SIGXCPU:
            reason = f"takes over {limits.seconds:g} seconds to be read"
        elif code == OUT_OF_MEMORY:
            reason = out_of_memory(limits)
        elif code < 0:
            reason = f"made its reader crash (signal {-code})"
        else:
            reason = f"made its reader end (status {code})"
        return ReaderStoppedError(reason, begun=self._begun)


def _import_path() -> list[str]:
    """Returns where the child imports from: never from the folder in which this process happens to run.

    Braid's own folders come last, so that no file beside them takes the place of an installed module.
    """
    roots = [str(Path(root).resolve().parent) for root in services.__path__]
    here = {"", str(Path.cwd())}
    return [*(one for one in sys.path if one not in {*here, *roots}), *roots]


def _confinement(ready: bytes) -> Confinement:
    """Decodes which protections hold in a child from its first frame."""
    return Confinement(
        **{key: value is True for key, value in json.loads(ready)["confinement"].items()}
    )


PART = 64
AT_ONCE = 2
IDLE_SECONDS = 15.0

Outcomes = Sequence[ParsedDocument | Rejected]


class Parsers:
    """Reads uploads, at most `max_concurrent` heavy ones concurrently. Idle children end after `idle_seconds`."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        max_concurrent: int = AT_ONCE,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._limits = limits or Limits()
        self._places = asyncio.Semaphore(max_concurrent)
        self._idle_seconds = idle_seconds
        self._idle: dict[ReaderProcess, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def report_confinement(self) -> None:
        """Starts a child, and logs and exports which protections hold in it. The first file finds it ready."""
        logger = get_logger("ingest")
        try:
            process, _ = await self._process()
        except (RuntimeError, OSError) as error:
            logger.warning("no process that reads files has started", error=str(error))
            return
        holds = asdict(process.confinement)
        await self._keep(process, reusable=True)
        report = logger.info if all(holds.values()) else logger.warning
        report("the processes that read files are confined", **holds)
        observed = [Observation(int(held), {"protection": name}) for name, held in holds.items()]
        gauge(READER_PROTECTIONS, lambda _: observed)

    async def parse(self, upload: Upload) -> AsyncIterator[Outcomes]:
        """Yields the upload's documents in order, several at a time; unreadable ones are included with a reason."""
        if await asyncio.to_thread(is_light, upload):
            async for light in self._parse_here(upload):
                yield light
            return
        for single, end in _singles(upload):
            async with self._places:
                part = await self._read(single)
            yield [replace(one, end=end) for one in part]

    async def close(self) -> None:
        """Ends the idle children."""
        for process, timer in list(self._idle.items()):
            timer.cancel()
            self._dismiss(process)
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _parse_here(self, upload: Upload) -> AsyncIterator[Outcomes]:
        documents = parse(upload, self._limits)
        while part := await asyncio.to_thread(lambda: list(islice(documents, PART))):
            yield part

    async def _read(self, upload: Upload) -> Outcomes:
        """Returns the child's outcomes for the upload. If an idle child has ended before it began, tries another."""
        while True:
            process, is_new = await self._process()
            try:
                outcomes, reusable = await process.read(upload, self._limits)
            except ReaderStoppedError as stopped:
                await process.stop()
                if is_new or stopped.begun:
                    return [_refused(upload, stopped)]
                continue
            except BaseException:
                await process.stop()
                raise
            await self._keep(process, reusable=reusable)
            return outcomes

    async def _process(self) -> tuple[ReaderProcess, bool]:
        if not self._idle:
            return await ReaderProcess.start(), True
        process, timer = self._idle.popitem()
        timer.cancel()
        return process, False

    async def _keep(self, process: ReaderProcess, *, reusable: bool) -> None:
        if not reusable:
            await process.stop()
            return
        loop = asyncio.get_running_loop()
        self._idle[process] = loop.call_later(self._idle_seconds, self._dismiss, process)

    def _dismiss(self, process: ReaderProcess) -> None:
        del self._idle[process]
        ending = asyncio.create_task(process.stop())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


@asynccontextmanager
async def open_parsers(
    limits: Limits | None = None,
    *,
    max_concurrent: int = AT_ONCE,
    idle_seconds: float = IDLE_SECONDS,
) -> AsyncIterator[Parsers]:
    """Yields parsers whose children end with the block. The first child starts with the first file that needs one."""
    parsers = Parsers(limits, max_concurrent=max_concurrent, idle_seconds=idle_seconds)
    try:
        yield parsers
    finally:
        await parsers.close()


def _singles(upload: Upload) -> Iterator[tuple[Upload, Place]]:
    """Splits an upload of many files into single ones, each with the position after it: a bad one affects no other."""
    if upload.content_type != MAILBOX:
        yield upload, BEGINNING
        return
    for mail, end in split_mailbox(upload.data):
        yield replace(upload, data=mail), Place(upload.begin.offset + end)


def _refused(upload: Upload, stopped: ReaderStoppedError) -> Rejected:
    get_logger("ingest").warning(
        "a file stopped its reader", content_type=upload.content_type, reason=stopped.reason
    )
    return Rejected(upload.document_id or upload.source, stopped.reason)
