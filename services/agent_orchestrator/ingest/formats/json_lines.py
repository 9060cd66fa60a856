"""JSON lines: one document for each line. Unreadable lines are reported by number; the others are read."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from services.agent_orchestrator.ingest.documents import (
    BEGINNING,
    Metadata,
    ParsedDocument,
    Place,
    Rejected,
    UnreadableError,
    check_text,
    check_values,
    read_date,
)
from services.runtime.fact_lines import ENDS_AND_RELATION, is_fact
from services.runtime.ids import derived_uuid

_BOM = b"\xef\xbb\xbf"


def count_lines(data: bytes) -> int:
    """Counts the non-blank lines: the documents of an upload. Raises UnreadableError if all of them are facts."""
    count, only_facts = 0, True
    for line in io.BytesIO(data):
        if line.strip():
            count += 1
            only_facts = only_facts and _is_fact_line(line)
    if count and only_facts:
        raise UnreadableError("holds facts alone, which IngestFacts takes")
    return count


def _is_fact_line(line: bytes) -> bool:
    try:
        values = line_values(line.removeprefix(_BOM))
    except UnreadableError:
        return False
    return is_fact(values)


def read_json_lines(
    data: bytes,
    *,
    metadata: Metadata,
    valid_time: datetime | None,
    begin: Place = BEGINNING,
) -> Iterator[ParsedDocument | Rejected]:
    """Yields each line's document, in order; `metadata` and `valid_time` are defaults for lines that set neither.

    `begin` is the part of the upload that was read before `data`.
    """
    offset = begin.offset
    for number, line in enumerate(io.BytesIO(data), start=begin.line + 1):
        offset += len(line)
        if not line.strip():
            continue
        name, end = f"line {number}", Place(offset, number)
        try:
            values = line_values(line.removeprefix(_BOM) if number == 1 else line)
            name = _id(values) or name
            yield replace(_document(values, metadata, valid_time), end=end)
        except UnreadableError as error:
            reason = str(error) if name.startswith("line ") else f"line {number}: {error}"
            yield Rejected(name, reason, end)


def line_values(line: bytes) -> dict[str, Any]:
    """Returns a line's JSON object. Raises UnreadableError if it is not one."""
    try:
        values = json.loads(line.decode(), parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError:
        raise UnreadableError("is not UTF-8: save it as UTF-8") from None
    except (ValueError, RecursionError):
        raise UnreadableError("is not valid JSON") from None
    if not isinstance(values, dict):
        raise UnreadableError("is not a JSON object")
    return values


def _id(values: dict[str, Any]) -> str:
    """Returns the line's own id if it is usable, to identify the line in a failure."""
    try:
        given = text_value(values, "id", numbers=True)
        check_values(given, "", "", {})
    except UnreadableError:
        return ""
    return given


def _document(
    values: dict[str, Any], metadata: Metadata, valid_time: datetime | None
) -> ParsedDocument:
    text = _text(values)
    title, source = text_value(values, "title"), text_value(values, "source")
    document_id = text_value(values, "id", numbers=True) or source
    own = {**metadata, **_metadata(values)}
    check_values(document_id, title, source, own)
    return ParsedDocument(
        document_id=document_id or derived_uuid("document", title, text),
        title=title,
        source=source,
        text=text,
        metadata=own,
        valid_time=read_date("valid_at", values.get("valid_at")) or valid_time,
    )


def _text(values: dict[str, Any]) -> str:
    if values.get("text") is None and values.keys() & set(ENDS_AND_RELATION):
        raise UnreadableError(_no_document(values))
    return given_text(values)


def _no_document(values: dict[str, Any]) -> str:
    if is_fact(values):
        return "is a fact, which is given apart from documents"
    return "has neither a text, nor subject, relation and object"


def given_text(values: dict[str, Any]) -> str:
    """Returns the text of a line's object. Raises UnreadableError if there is none or it is blank."""
    text = text_value(values, "text")
    check_text("text", text)
    if text.strip():
        return text
    raise UnreadableError("text is missing" if values.get("text") is None else "text is empty")


def text_value(values: dict[str, Any], name: str, *, numbers: bool = False) -> str:
    """Returns a text of a line's object, "" if it is missing; with `numbers`, integers are returned as digits."""
    value = values.get(name)
    if value is None:
        return ""
    if numbers and isinstance(value, int) and not isinstance(value, bool):
        return _digits(value)
    if not isinstance(value, str):
        raise UnreadableError(f"{name} is not a text")
    return value


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        raise UnreadableError("id is too long a number") from None


def _metadata(values: dict[str, Any]) -> Metadata:
    value = values.get("metadata")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnreadableError("metadata is not a JSON object")
    return value


def _refuse_constant(_name: str) -> float:
    raise ValueError("NaN and infinities are no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is out of range")
    return value
