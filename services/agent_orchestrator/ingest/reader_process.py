"""One child process that reads files: started, asked, and killed when a file takes too long."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from services.agent_orchestrator.ingest.documents import (
    ParsedDocument,
    Rejected,
    UnreadableError,
)
from services.agent_orchestrator.ingest.limits import Limits
from services.agent_orchestrator.ingest.upload import Upload
from services.agent_orchestrator.ingest.wire import (
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
from services.runtime.telemetry import get_logger

_MODULE = "services.agent_orchestrator.ingest.child"
_BUFFER = 1024 * 1024
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_NONSENSE = (ValueError, TypeError, KeyError, UnreadableError)


class ReaderStoppedError(Exception):
    """The child is no more: `reason` is why, in words for whoever sent the file, if it had `begun` with that."""

    def __init__(self, reason: str, *, begun: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.begun = begun


class ReaderProcess:
    """A child and its pipes. After ReaderStoppedError, or a read that was cut short, it is of no more use."""

    def __init__(self, process: Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process has no pipes")
        self._process = process
        self._requests = process.stdin
        self._answers = process.stdout
        self._begun = False

    @classmethod
    async def start(cls) -> ReaderProcess:
        """A new child, without this process's environment: that holds credentials. RuntimeError when none starts."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _MODULE,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1"},
            limit=_BUFFER,
        )
        child = cls(process)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await child._frame()
        except (TimeoutError, EOFError, ValueError) as error:
            await child.stop()
            raise RuntimeError("the process that reads files does not start") from error
        return child

    async def read(
        self, upload: Upload, limits: Limits
    ) -> tuple[Sequence[ParsedDocument | Rejected], bool]:
        """What the upload is read as, and whether the child can read another. ReaderStoppedError when it is no more."""
        self._begun = False
        try:
            async with asyncio.timeout(limits.seconds):
                return await self._exchange(upload, limits)
        except TimeoutError:
            reason = f"takes over {limits.seconds:g} seconds to be read"
            raise ReaderStoppedError(reason) from None
        except (EOFError, OSError):
            raise await self._ended(limits) from None
        except _NONSENSE:
            raise ReaderStoppedError("made its reader answer nonsense") from None

    async def stop(self) -> None:
        """Ends the child, whatever it does, and waits for its end."""
        with suppress(ProcessLookupError):
            self._process.kill()
        async with asyncio.timeout(_STOP_SECONDS):
            await self._process.wait()

    async def _exchange(
        self, upload: Upload, limits: Limits
    ) -> tuple[Sequence[ParsedDocument | Rejected], bool]:
        self._requests.write(json_frame(request_header(upload, limits)))
        self._requests.write(frame(upload.data))
        await self._requests.drain()
        outcomes: list[ParsedDocument | Rejected] = []
        while True:
            told = json.loads(await self._frame())
            self._begun = True
            if "begun" in told:
                continue
            if "document" in told:
                outcomes.append(await self._document(told["document"]))
            elif "rejected" in told:
                outcomes.append(read_rejected(told["rejected"]))
            else:
                return outcomes, self._goes_on(told)

    async def _document(self, header: dict[str, Any]) -> ParsedDocument:
        text = await self._frame()
        return await asyncio.to_thread(read_document, header, text)

    def _goes_on(self, told: dict[str, Any]) -> bool:
        if told["end"]:
            get_logger("ingest").warning("a parser failed", error=str(told["end"])[:100])
        return not told["last"]

    async def _frame(self) -> bytes:
        size = int.from_bytes(await self._answers.readexactly(PREFIX), "big")
        if size > MAX_FRAME:
            raise ValueError("a frame is too long")
        return await self._answers.readexactly(size)

    async def _ended(self, limits: Limits) -> ReaderStoppedError:
        """Why there came no answer: what the operating system tells of the child's end."""
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
