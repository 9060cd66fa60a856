"""The protocol between a worker and the child that reads files for it: frames of JSON and bytes, nothing pickled.

The child reads untrusted files: all of its answers are treated as data.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from services.agent_orchestrator.ingest.document_warnings import (
    DocumentWarning,
    WarningReason,
    bounded,
)
from services.agent_orchestrator.ingest.documents import (
    MIB,
    Limits,
    ParsedDocument,
    Piece,
    Rejected,
    Upload,
    check_text,
    check_values,
)

# Bytes of the length before each frame.
PREFIX = 4
MAX_FRAME = 512 * 1024 * 1024
# Sent by a child when it has started, and when it begins a request.
READY = {"ready": True}
BEGUN = {"begun": True}
# Exit status of a child that has run out of memory.
OUT_OF_MEMORY = 86


def out_of_memory(limits: Limits) -> str:
    """Returns the reason for refusing a file that needs too much memory."""
    return f"takes over {limits.memory_bytes // MIB} MiB of memory to be read"


def frame(data: bytes) -> bytes:
    """Encodes bytes as a frame: their length, then the bytes."""
    return len(data).to_bytes(PREFIX, "big") + data


def json_frame(values: dict[str, Any]) -> bytes:
    """Encodes a JSON object as a frame."""
    return frame(json.dumps(values).encode())


def request_header(upload: Upload, limits: Limits) -> dict[str, Any]:
    """Returns the header that the child receives before the bytes to read."""
    return {
        "limits": asdict(limits),
        "content_type": upload.content_type,
        "document_id": upload.document_id,
        "title": upload.title,
        "source": upload.source,
        "metadata": upload.metadata,
        "valid_time": _iso(upload.valid_time),
    }


def read_request(header: dict[str, Any], data: bytes) -> tuple[Upload, Limits]:
    """Returns the upload and the limits of a request."""
    values = {**header, "valid_time": _time(header["valid_time"])}
    limits = Limits(**values.pop("limits"))
    return Upload(data=data, **values), limits


def outcome_frames(outcome: ParsedDocument | Rejected) -> Sequence[bytes]:
    """Encodes an outcome as frames: a header, followed by a document's text."""
    if isinstance(outcome, Rejected):
        return [json_frame({"rejected": [outcome.document_id, outcome.reason]})]
    header = {
        "document_id": outcome.document_id,
        "title": outcome.title,
        "source": outcome.source,
        "metadata": outcome.metadata,
        "valid_time": _iso(outcome.valid_time),
        "body_start": outcome.body_start,
        "warnings": outcome.warnings,
        "pieces": [[p.start, p.end, p.page, _iso(p.time)] for p in outcome.pieces],
    }
    return [json_frame({"document": header}), frame(outcome.text.encode())]


def read_rejected(values: Any) -> Rejected:
    """Decodes a refusal from its header."""
    document_id, reason = values
    return Rejected(str(document_id), str(reason))


def read_document(header: dict[str, Any], text: bytes) -> ParsedDocument:
    """Decodes a document. Raises ValueError, TypeError, KeyError or UnreadableError for invalid data."""
    document = ParsedDocument(
        document_id=str(header["document_id"]),
        title=str(header["title"]),
        source=str(header["source"]),
        text=text.decode(),
        metadata=dict(header["metadata"]),
        valid_time=_time(header["valid_time"]),
        body_start=int(header["body_start"]),
        pieces=tuple(_piece(*piece) for piece in header["pieces"]),
        warnings=bounded([_warning(*warning) for warning in header["warnings"]]),
    )
    check_values(document.document_id, document.title, document.source, document.metadata)
    check_text("the document", document.text)
    return document


def _piece(start: int, end: int, page: int, time: str | None) -> Piece:
    return Piece(int(start), int(end), int(page), _time(time))


def _warning(reason: str, text: str, where: str) -> DocumentWarning:
    return DocumentWarning(WarningReason(reason), str(text), str(where))


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def _time(values: str | None) -> datetime | None:
    return datetime.fromisoformat(values) if values else None
