"""Finds facts in files of JSON lines, separates them from documents, and sends them as facts."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from braid.agent.v1.ingest_pb2 import DocumentMetadata, IngestDocumentRequest
from gateway.rest.documents.long_text import PIECE_BYTES
from gateway.rest.facts.requests import FactBody, read_lines, rest_name_of
from gateway.rest.mapping.validation_errors import MAX_PROBLEMS
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.fact_lines import ENDS_AND_RELATION, is_fact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator


_BOM = b"\xef\xbb\xbf"
_MARKS = tuple(f'"{name}"'.encode() for name in ENDS_AND_RELATION)
_PLACE = re.compile(r"^facts\[(\d{0,9})\]\.?")


@dataclass(frozen=True, slots=True)
class FactLines:
    """The facts of a file, their line numbers, from 1, and whether the file has other lines."""

    facts: list[FactBody] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    has_documents: bool = True

    def named(self, place: str) -> Callable[[str], str]:
        """Maps a field of the contract to the file at `place`."""
        rest_name = rest_name_of(self.facts)

        def name(path: str) -> str:
            return _located(rest_name(path), place, self.numbers)

        return name


async def find_facts(file: BinaryIO, place: str, max_bytes: int) -> FactLines:
    """Returns the facts of the file at `place` of a request. Rewinds the file.

    Raises InvalidFieldError for invalid facts, or if they are larger than `max_bytes` in total.
    """
    return await asyncio.to_thread(_find_facts, file, place, max_bytes)


async def without_facts(
    metadata: DocumentMetadata, file: BinaryIO
) -> AsyncIterator[IngestDocumentRequest]:
    """Yields the file's other lines as the contract's stream. Facts become empty lines, which keeps line numbers."""
    yield IngestDocumentRequest(metadata=metadata)
    pieces = _remaining_pieces(file)
    while data := await asyncio.to_thread(next, pieces, b""):
        yield IngestDocumentRequest(data=data)


def _find_facts(file: BinaryIO, place: str, max_bytes: int) -> FactLines:
    numbers: list[int] = []
    lines = bytearray()
    has_documents = False
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        if not is_fact_line(line):
            has_documents = True
            continue
        numbers.append(number)
        lines += line.removeprefix(_BOM).strip() + b"\n"
        if len(lines) > max_bytes:
            description = f"holds facts of more than {max_bytes} bytes: split it"
            raise InvalidFieldError(FieldError(place, description))
    file.seek(0)
    try:
        facts = read_lines(bytes(lines))
    except InvalidFieldError as error:
        found = (FieldError(_located(e.field, place, numbers), e.description) for e in error.fields)
        raise InvalidFieldError(*list(found)[:MAX_PROBLEMS]) from None
    return FactLines(facts, numbers, has_documents)


def is_fact_line(line: bytes) -> bool:
    """Whether a line is a given fact as JSON."""
    if not all(mark in line for mark in _MARKS):
        return False  # most lines of documents: not parsed twice
    try:
        values: Any = json.loads(line.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return False
    return isinstance(values, dict) and is_fact(values)


def _remaining_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yields the rest in pieces of the maximum size of a message."""
    piece = bytearray()
    for line in file:
        piece += b"\n" if is_fact_line(line) else line
        while len(piece) >= PIECE_BYTES:
            yield bytes(piece[:PIECE_BYTES])
            del piece[:PIECE_BYTES]
    if piece:
        yield bytes(piece)


def _located(path: str, place: str, numbers: list[int]) -> str:
    """Converts `facts[3].subject` to `files[0].lines[12].subject`, with the line number in the file, from 1."""
    found = _PLACE.match(path)
    if found is None:
        return f"{place}.{path}"
    line = str(numbers[int(found[1])]) if found[1] else ""
    return f"{place}.lines[{line}].{path[found.end() :]}".rstrip(".")
