"""Reads untrusted files, one after another, in a process that may crash because of them.

It has no credentials, no connections and no environment; it takes requests on its standard input and answers on its
standard output, under memory and time limits that the operating system enforces. Once it has imported its parsers it
can open neither files nor connections, as far as the kernel can enforce that. Its parent handles its end.
"""

from __future__ import annotations

import encodings
import json
import os
import pkgutil
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from typing import BinaryIO

from services.agent_orchestrator.ingest.dates import import_languages
from services.agent_orchestrator.ingest.documents import (
    MIB,
    Limits,
    ParsedDocument,
    Rejected,
    Upload,
)
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
from services.runtime.confinement import confine_process, set_limit

# A child is replaced after this many files, so that memory leaks of libraries stay small.
MAX_FILES = 500
NICENESS = 5
# What the formats import only when they need it. It must be imported before the child is confined.
LAZY_IMPORTS = (
    "dateparser.date",
    "docutils.core",
    "docutils.languages.en",
    "docutils.parsers.rst.directives.admonitions",
    "docutils.parsers.rst.directives.body",
    "docutils.parsers.rst.directives.html",
    "docutils.parsers.rst.directives.images",
    "docutils.parsers.rst.directives.misc",
    "docutils.parsers.rst.directives.parts",
    "docutils.parsers.rst.directives.references",
    "docutils.parsers.rst.directives.tables",
    "docutils.parsers.rst.languages.en",
    "docutils.readers.doctree",
    "docutils.readers.standalone",
    "docutils.writers.html5_polyglot",
    "email.generator",  # by oxmsg's mails
    "mammoth",
    "markdown_it",
    "oxmsg",
    "pptx",
    "pypdfium2.raw",
    "python_calamine",
    "selectolax.lexbor",
    "sentencex.sentencex",  # by the chunker, for paragraphs longer than a chunk
    "striprtf.striprtf",
    "_strptime",  # by the time functions of the standard library
    "xml.dom.expatbuilder",  # by mammoth
)
# Memory that the child may use in addition once it has run out, to report that.
_RESERVE = 64 * MIB


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Answers requests until there are no more, or MAX_FILES is reached."""
    os.nice(NICENESS)
    _import_parsers()
    confinement = confine_process()
    target.write(json_frame({**READY, "confinement": asdict(confinement)}))
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
            set_limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
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


def _import_parsers() -> None:
    for name in LAZY_IMPORTS:
        import_module(name)
    for codec in pkgutil.iter_modules(encodings.__path__):
        # Some codecs exist on one operating system alone.
        with suppress(ImportError):
            import_module(f"encodings.{codec.name}")
    import_languages()


def _limit_process(limits: Limits) -> None:
    """Limits memory, and the processor time of all files together, for good."""
    set_limit(resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes + _RESERVE)
    seconds = int(MAX_FILES * (limits.seconds + 1))
    set_limit(resource.RLIMIT_CPU, seconds, seconds)


def _limit_time(limits: Limits) -> None:
    """Limits processor time, in case the parent, which limits elapsed time, no longer exists."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    set_limit(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime + limits.seconds) + 1)


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
