"""Reads untrusted files, one after another, in a process that may crash because of them.

It has no credentials, no connections and no environment; it takes requests on its standard input and answers on its
standard output, under memory and time limits that the operating system enforces. Its parent handles its end.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from services.agent_orchestrator.ingest.documents import Limits, ParsedDocument, Rejected, Upload
from services.agent_orchestrator.ingest.formats.parsing import parse
from services.agent_orchestrator.ingest.sandbox.frames import (
    BEGUN,
    OUT_OF_MEMORY,
    PREFIX,
    READY,
    json_frame,
    out_of_memory,
    outcome_frames,
    read_request,
)

# A child is replaced after this many files, so that memory leaks of libraries stay small.
MAX_FILES = 500
NICENESS = 5
_OPEN_FILES = 64


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Answers requests until there are no more, or MAX_FILES is reached."""
    os.nice(NICENESS)
    target.write(json_frame(READY))
    target.flush()
    for served in range(1, MAX_FILES + 1):
        header = _frame(source)
        if header is None:
            return
        target.write(json_frame(BEGUN))
        target.flush()
        upload, limits = read_request(json.loads(header), _frame(source) or b"")
        if served == 1:
            _limit_process(limits)
        _limit_time(limits)
        if not _answer(upload, limits, target, last=served == MAX_FILES):
            return


def _answer(upload: Upload, limits: Limits, target: BinaryIO, *, last: bool) -> bool:
    """Sends the upload's outcomes. Returns False if the next upload needs a new process."""
    ends = _ReadOutcome(last)
    for outcome in ends.outcomes(upload, limits):
        target.writelines(outcome_frames(outcome))
    target.write(json_frame({"end": ends.error, "last": ends.last}))
    target.flush()
    return not ends.last


class _ReadOutcome:
    """Reads an upload and records how the reading ended."""

    def __init__(self, last: bool) -> None:
        self.last = last
        self.error = ""

    def outcomes(self, upload: Upload, limits: Limits) -> Iterator[ParsedDocument | Rejected]:
        """Yields the upload's documents; any failure of a parser becomes the reason of the document that caused it."""
        try:
            yield from parse(upload, limits)
        except MemoryError:
            _limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
            yield self._failed(upload, "MemoryError", out_of_memory(limits))
        except RecursionError:
            yield self._failed(upload, "RecursionError", "is nested too deep")
        # Parsers raise unforeseeable errors for broken files.
        except BaseException as error:  # noqa: BLE001
            reason = f"cannot be read as {upload.content_type}"
            yield self._failed(upload, type(error).__name__, reason)

    def _failed(self, upload: Upload, error: str, reason: str) -> Rejected:
        self.last, self.error = True, error
        return Rejected(upload.document_id or upload.source, reason)


def _limit_process(limits: Limits) -> None:
    _limit(resource.RLIMIT_AS, limits.memory_bytes)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)


def _limit_time(limits: Limits) -> None:
    """Limits processor time, in case the parent, which limits elapsed time, no longer exists."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime + limits.seconds) + 1)


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    soft = hard if value == resource.RLIM_INFINITY else value
    # Not every operating system supports every limit.
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (soft, hard))


def _frame(source: BinaryIO) -> bytes | None:
    """Reads the next frame; returns None at the end."""
    prefix = source.read(PREFIX)
    if len(prefix) < PREFIX:
        return None
    size = int.from_bytes(prefix, "big")
    data = source.read(size)
    return data if len(data) == size else None


def _own_output() -> BinaryIO:
    """Returns standard output, reserved for answers: output that a library prints is discarded."""
    answers = os.dup(sys.stdout.fileno())
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - not a file
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    return os.fdopen(answers, "wb")


if __name__ == "__main__":
    try:
        main(sys.stdin.buffer, _own_output())
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
