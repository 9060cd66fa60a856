"""Results of tools: compact shapes, truncated between items to fit an assistant's context."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from braid.common.v1 import retrieval_pb2
    from braid.graph.v1 import facts_pb2

MAX_CHARACTERS = 3000
_MAX_SOURCES = 2
_MIDNIGHT = "T00:00:00Z"
_CUT = " … [cut]"
_SHORTEST = 64

Status = Literal["found", "no_match", "incomplete", "could_not_search", "ambiguous", "done"]


class ToolResult(BaseModel):
    """What every tool answers. `could_not_search` never means that there is nothing."""

    space: str = Field(description="The space that was searched.")
    as_of: str = Field(default="now", description="The time that the answer is about.")
    known_at: str | None = Field(default=None, description="As it was known at this time.")
    status: Status = Field(
        description="`no_match`: searched, and there is nothing. `incomplete`: a part could not be searched. "
        "`could_not_search`: nothing was looked at, so nothing is known. `ambiguous`: choose an entity."
    )
    message: str = Field(description="The same in words, and how to go on.")
    next_cursor: str | None = Field(
        default=None, description="Call again with this `cursor` and the same arguments for more."
    )


class EntityChoice(BaseModel):
    """One of several entities of a name."""

    name: str
    type: str
    uuid: str


class Statement(BaseModel):
    """A fact: open ends are left out. `mention` marks two names in one sentence, which states nothing."""

    fact: str
    relation: str
    subject: str
    object: str
    valid_from: str | None = None
    valid_until: str | None = None
    happened_on: str | None = None
    mention: bool | None = None
    sources: list[str] | None = None


Result = TypeVar("Result", bound=ToolResult)
Item = TypeVar("Item", bound=BaseModel)


def text_of(result: BaseModel) -> str:
    """Returns a result as the JSON for the model; unknown values are left out."""
    return result.model_dump_json(exclude_none=True)


def fit(items: Sequence[Item], build: Callable[[Sequence[Item]], Result]) -> Result:
    """Returns the result with as many of the first items as fit. A single item that is too long is truncated."""
    whole = build(items)
    if len(text_of(whole)) <= MAX_CHARACTERS or not items:
        return whole
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if len(text_of(build(items[:middle]))) <= MAX_CHARACTERS:
            low = middle
        else:
            high = middle - 1
    return build(items[:low]) if low else _first_cut(items[0], build)


def _first_cut(item: Item, build: Callable[[Sequence[Item]], Result]) -> Result:
    """Returns the result with one item, whose longest text is shortened repeatedly until it fits."""
    result = build([item])
    while len(text_of(result)) > MAX_CHARACTERS:
        name, value = max(item, key=lambda field: _length(field[1]))
        if _length(value) <= _SHORTEST:
            return result
        item = item.model_copy(update={name: _halved(value)})
        result = build([item])
    return result


def _length(value: Any) -> int:
    return len(text) if isinstance(text := value, str) else sum(map(len, _texts(value)))


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _halved(value: str | list[str]) -> str | list[str]:
    if isinstance(value, list):
        return value[: len(value) // 2] if len(value) > 1 else [_cut(value[0])]
    return _cut(value)


def _cut(text: str) -> str:
    text = text.removesuffix(_CUT)
    return text[: 3 * len(text) // 4] + _CUT


def count_line(shown: int, count: int | str, what: str, first: int = 0, *, more: bool) -> str:
    """Returns a sentence such as `Found 45 facts, showing 1–12 …`."""
    if not more and not first:
        return f"Found {count} {what}."
    if not shown:
        return f"No further {what}."
    span = f"{first + 1}–{first + shown}"
    end = " More: call again with `cursor`, or narrow the query." if more else ""
    return f"Found {count} {what}, showing {span}.{end}"


def day_or_time(message: Any, name: str) -> str | None:
    """Returns a timestamp field as a day if it is midnight UTC, else as RFC 3339; None if unset."""
    if not message.HasField(name):
        return None
    value: Timestamp = getattr(message, name)
    return value.ToJsonString().removesuffix(_MIDNIGHT)


def statement(message: facts_pb2.Fact) -> Statement:
    """Returns a fact with its dates and sources."""
    begin, end = day_or_time(message, "valid_time"), day_or_time(message, "invalid_time")
    mentioned = message.relation_type == "CO_OCCURS"
    return Statement(
        fact=message.statement,
        relation=message.relation_type,
        subject=message.subject.name,
        object=message.object.name,
        valid_from=None if message.event else begin,
        valid_until=None if message.event else end,
        happened_on=begin if message.event else None,
        mention=True if mentioned else None,
        sources=sources(message.sources) or None,
    )


def sources(citations: Sequence[retrieval_pb2.Citation]) -> list[str]:
    """Returns the sources of a fact, at most two."""
    shown = [
        f"Document {one.document_title or one.document_id} · Source {one.source or one.document_id}"
        f" · Chunk {one.chunk_id}"
        for one in citations[:_MAX_SOURCES]
    ]
    left = len(citations) - len(shown)
    return [*shown, f"and {left} more"] if left else shown


def dated(message: facts_pb2.Fact) -> str:
    """Returns a fact in one line, with its dates."""
    begin, end = day_or_time(message, "valid_time"), day_or_time(message, "invalid_time")
    if message.event and begin:
        return f"{message.statement} (on {begin})"
    parts = [f"since {begin}" if begin else "", f"until {end}" if end else ""]
    dates = ", ".join(part for part in parts if part)
    return f"{message.statement} ({dates})" if dates else message.statement


def choices(refs: Iterable[facts_pb2.EntityRef]) -> list[EntityChoice] | None:
    """Returns entities to choose from; None if there are none."""
    return [EntityChoice(name=one.name, type=one.type, uuid=one.id) for one in refs] or None
