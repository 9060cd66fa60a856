"""The result of a tool: typed items with citations for Braid, and a text of limited length for a language model.

A tool returns `ToolReturn(return_value=result.text, metadata=result)`. A provider's model reads only the text; the
local planner and the citations of an answer read the metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, Self

from pydantic import TypeAdapter

MAX_CHARACTERS: Final = 3_000
MAX_ITEMS: Final = 20
# Characters reserved for the line that says how many items were left out.
_OVERFLOW_ROOM: Final = 160
# A number of an item that is longer than the numbers of real answers.
_LONGEST_NUMBER: Final = 100_000

Status = Literal[
    "ok", "no_match", "unavailable", "degraded", "unknown_entity", "empty_graph", "ambiguous"
]
ItemKind = Literal["passage", "fact", "mention", "change", "state", "finding", "memory"]
Change = Literal["", "added", "ended", "changed"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage of a document. `start` and `end` are character offsets in the document's text."""

    document_id: str
    title: str
    source: str
    chunk_id: str
    start: int
    end: int
    quote: str

    def part(self, start: int, end: int) -> Citation:
        """Returns the part of the quote between two character offsets, with its position in the document."""
        return replace(
            self, start=self.start + start, end=self.start + end, quote=self.quote[start:end]
        )

    def line(self) -> str:
        """Returns the source as one line of text."""
        return f"Document {self.title} · Source {self.source} · Chunk {self.chunk_id}"


@dataclass(frozen=True, slots=True)
class ResultItem:
    """One item of a result. A passage has only text and citations; a fact has subject, object, relation and dates.

    `score` is a relevance between 0 and 1. `valid_from` and `valid_until` bound a half-open interval; None means open.
    `change` says how the fact differs between the two times of a comparison. A type of a fact's end is empty if it is
    unknown. `is_asked` says of what the memory has that it is of the relation, role or name that the question asks for.
    """

    kind: ItemKind
    text: str
    score: float = 0.0
    subject: str = ""
    relation: str = ""
    object: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    is_event: bool = False
    change: Change = ""
    citations: tuple[Citation, ...] = ()
    subject_type: str = ""
    object_type: str = ""
    is_asked: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of several entities that share a name."""

    name: str
    type: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one tool call.

    `status` distinguishes "not found" from "could not be looked up"; `message` says it in one sentence.
    `unavailable` names the parts that could not be queried ("graph", "documents", "memory").
    `as_of` is the time that the result refers to; a range has `as_of_end` too. `total_count` counts all; `items`
    may contain fewer. `next_page` is the token of the next page; empty on the last one.
    `summary` describes the items in a sentence or two, such as the periods of a long history.
    """

    tool: str
    status: Status
    space: str
    as_of: datetime | None = None
    as_of_end: datetime | None = None
    entity: str = ""
    items: tuple[ResultItem, ...] = ()
    total_count: int = 0
    candidates: tuple[Candidate, ...] = ()
    unavailable: tuple[str, ...] = ()
    message: str = ""
    next_page: str = ""
    summary: str = ""
    text: str = ""

    @classmethod
    def from_metadata(cls, metadata: Any) -> Self | None:
        """Returns the result attached to a tool's answer, also if it was stored as JSON. None if there is none."""
        if isinstance(metadata, cls):
            return metadata
        if isinstance(metadata, dict) and "tool" in metadata and "status" in metadata:
            return TypeAdapter(cls).validate_python(metadata)
        return None


def capped_text(
    heading: str,
    items: Sequence[ResultItem],
    total_count: int,
    *,
    first_number: int = 1,
    max_characters: int = MAX_CHARACTERS,
) -> str:
    """Returns the text for a language model: at most `max_characters` and 20 items, cut between items.

    It says how many items were left out and the true total. Items are numbered from `first_number`.
    """
    blocks = _fitting_blocks(heading, items, first_number, max_characters)
    total = max(total_count, len(items))
    if len(blocks) < total:
        blocks.append(
            f"Found {total}, showing the first {len(blocks)}. "
            "Narrow by type, relationship or time, or ask for the next page."
        )
    return "\n".join([heading, *blocks] if heading else blocks)


def shown_count(
    heading: str, items: Sequence[ResultItem], *, max_characters: int = MAX_CHARACTERS
) -> int:
    """Returns how many items `capped_text` certainly shows, whatever number the first one has."""
    return len(_fitting_blocks(heading, items, _LONGEST_NUMBER, max_characters))


def _fitting_blocks(
    heading: str, items: Sequence[ResultItem], first_number: int, max_characters: int
) -> list[str]:
    blocks: list[str] = []
    used = len(heading)
    for number, item in enumerate(items[:MAX_ITEMS], start=first_number):
        block = _block(number, item)
        if used + len(block) + 1 > max_characters - _OVERFLOW_ROOM:
            break
        blocks.append(block)
        used += len(block) + 1
    return blocks


def _block(number: int, item: ResultItem) -> str:
    lines = [f"[{number}] {item.text}{_dates(item)}"]
    lines.extend(f"    {citation.line()}" for citation in item.citations[:3])
    return "\n".join(lines)


def _dates(item: ResultItem) -> str:
    if item.valid_from is None and item.valid_until is None:
        return ""
    if item.is_event and item.valid_from is not None:
        return f" (on {_day(item.valid_from)})"
    start = "" if item.valid_from is None else f"from {_day(item.valid_from)}"
    end = "" if item.valid_until is None else f"until {_day(item.valid_until)}"
    return f" ({' '.join(part for part in (start, end) if part)})"


def _day(instant: datetime) -> str:
    return instant.date().isoformat()
