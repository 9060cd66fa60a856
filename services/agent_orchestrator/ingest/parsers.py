"""Uploads to documents for whatever runs jobs: light ones in a thread, others in child processes that may die.

    async with open_parsers() as parsers:
        async for part in parsers.parse(upload): ...    # some documents at a time, in order

The same upload gives the same number of outcomes each time: one a document, whatever becomes of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import islice

from services.agent_orchestrator.ingest.documents import BEGINNING, ParsedDocument, Place, Rejected
from services.agent_orchestrator.ingest.formats.mail import split_mailbox
from services.agent_orchestrator.ingest.limits import Limits
from services.agent_orchestrator.ingest.parsing import is_light, parse
from services.agent_orchestrator.ingest.reader_process import (
    ReaderProcess,
    ReaderStoppedError,
)
from services.agent_orchestrator.ingest.upload import MAILBOX, Upload
from services.runtime.telemetry import get_logger

PART = 64
AT_ONCE = 2
IDLE_SECONDS = 15.0

Outcomes = Sequence[ParsedDocument | Rejected]


class Parsers:
    """Reads uploads, `at_once` of the heavy ones at a time; a child that has nothing to do ends after a while."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        at_once: int = AT_ONCE,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._limits = limits or Limits()
        self._places = asyncio.Semaphore(at_once)
        self._idle_seconds = idle_seconds
        self._idle: dict[ReaderProcess, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def parse(self, upload: Upload) -> AsyncIterator[Outcomes]:
        """The upload's documents in order, some at a time; what cannot be read is there with its reason."""
        if await asyncio.to_thread(is_light, upload):
            async for light in self._parse_here(upload):
                yield light
            return
        for single, end in _singles(upload):
            async with self._places:
                part = await self._read(single)
            yield [replace(one, end=end) for one in part]

    async def close(self) -> None:
        """Ends the children that wait."""
        for process, timer in list(self._idle.items()):
            timer.cancel()
            self._dismiss(process)
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _parse_here(self, upload: Upload) -> AsyncIterator[Outcomes]:
        documents = parse(upload, self._limits)
        while part := await asyncio.to_thread(lambda: list(islice(documents, PART))):
            yield part

    async def _read(self, upload: Upload) -> Outcomes:
        """What a child makes of the upload. One that is found dead says nothing of the upload: another is tried."""
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
    limits: Limits | None = None, *, at_once: int = AT_ONCE, idle_seconds: float = IDLE_SECONDS
) -> AsyncIterator[Parsers]:
    """Parsers whose children end with the block. None is started before the first file that needs one."""
    parsers = Parsers(limits, at_once=at_once, idle_seconds=idle_seconds)
    try:
        yield parsers
    finally:
        await parsers.close()


def _singles(upload: Upload) -> Iterator[tuple[Upload, Place]]:
    """An upload of many files as one of each, and where reading can go on after it: a bad one spoils no other."""
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
