"""Splits a file into uploads: whole, or JSON lines in parts of a few megabytes, facts separated from documents."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from services.runtime.fact_lines import ENDS_AND_RELATION, is_fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


PART_BYTES = 4 * 1024 * 1024
LINE_BYTES = 32 * 1024 * 1024
# Half of the gateway's limit for facts in one request.
FACT_BYTES = 8 * 1024 * 1024
_MARKS = tuple(f'"{name}"'.encode() for name in ENDS_AND_RELATION)
# Aliases of fields of facts.
_RENAMED = {"document": "document_id"}


@dataclass(slots=True)
class Part:
    """Lines of documents to upload together; `lines` has the number of each, from 1."""

    data: bytearray = field(default_factory=bytearray)
    lines: list[int] = field(default_factory=list)

    def add(self, number: int, line: bytes) -> None:
        """Adds a line."""
        self.data += line if line.endswith(b"\n") else line + b"\n"
        self.lines.append(number)


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line that is too long for a part; `line` is its number, from 1."""

    line: int


@dataclass(frozen=True, slots=True)
class WrongFact:
    """A fact that cannot be sent, and the reason; `line` is its number, from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A given fact, the number of its line, from 1, and the line's bytes."""

    line: int
    body: dict[str, Any]
    size: int


def read_lines(file: BinaryIO, max_bytes: int = LINE_BYTES) -> Iterator[bytes | None]:
    """Yields the file's lines, and None for each line longer than `most` bytes, which bounds the memory."""
    while line := file.readline(max_bytes + 1):
        if len(line) <= max_bytes:
            yield line
            continue
        yield None
        while line and not line.endswith(b"\n"):
            line = file.readline(max_bytes)


def split(
    lines: Iterable[bytes | None], part_bytes: int = PART_BYTES
) -> Iterator[Part | Fact | WrongFact | LongLine]:
    """Splits JSON lines into parts of documents and single facts. Skips blank lines."""
    part = Part()
    for number, line in enumerate(lines, start=1):
        if line is None:
            yield LongLine(number)
            continue
        if not line.strip():
            continue
        fact = _fact(line)
        if fact is not None:
            reason = _reason_against(fact, len(line))
            yield WrongFact(number, reason) if reason else Fact(number, fact, len(line))
            continue
        if part.lines and len(part.data) + len(line) > part_bytes:
            yield part
            part = Part()
        part.add(number, line)
    if part.lines:
        yield part


def _fact(line: bytes) -> dict[str, Any] | None:
    if not all(mark in line for mark in _MARKS):
        return None  # most lines: not parsed twice
    try:
        body = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or not is_fact(body):
        return None
    fact = {str(name): value for name, value in body.items() if value is not None}
    for former, name in _RENAMED.items():
        if name not in fact and former in fact:
            fact[name] = fact.pop(former)
    return fact


def _reason_against(fact: dict[str, Any], size: int) -> str:
    """Returns why a request with this fact cannot be encoded; empty if it can."""
    if size > FACT_BYTES:
        return f"is longer than {FACT_BYTES} bytes"
    try:
        json.dumps(fact, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "holds half a character: a \\u of D800 to DFFF by itself"
    except ValueError:
        return "holds a number that JSON cannot carry: NaN, or one that is too large"
    except RecursionError:
        return "nests too deep"
    return ""
