"""The raw input of a job, and the content types that the contract knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from services.agent_orchestrator.ingest.documents import BEGINNING, Metadata, Place

PLAIN = "text/plain"
MARKDOWN = "text/markdown"
HTML = "text/html"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
JSON_LINES = "application/jsonl"
MESSAGES = "application/vnd.braid.messages+jsonl"
MAIL = "message/rfc822"
MAILBOX = "application/mbox"


@dataclass(frozen=True, slots=True)
class Upload:
    """The raw input of a job: what it takes to run the job again."""

    content_type: str
    data: bytes = field(repr=False)
    document_id: str = ""
    title: str = ""
    source: str = ""
    metadata: Metadata = field(default_factory=dict)
    valid_time: datetime | None = None
    # What was read before, where `data` is only what follows.
    begin: Place = BEGINNING
    # How many documents of `data` were read before: where making one takes a while, anything may stand for them.
    done: int = 0
