"""Content types of the contract by file name."""

from __future__ import annotations

from pathlib import PurePath

# The suffix of message threads comes first, because such names also end with `.jsonl`.
CONTENT_TYPES = {
    ".messages.jsonl": "application/vnd.braid.messages+jsonl",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/jsonl",
    ".eml": "message/rfc822",
    ".mbox": "application/mbox",
}


def content_type_of(name: str) -> str | None:
    """Returns the content type for a file name; None if such files cannot be ingested."""
    last = PurePath(name).name.lower()
    return next((kind for suffix, kind in CONTENT_TYPES.items() if last.endswith(suffix)), None)
