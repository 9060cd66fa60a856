"""What files are, by their names: the content types of the contract."""

from __future__ import annotations

from pathlib import PurePath

# What messages and their threads are told apart from other JSON lines by stands first.
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
    """The content type of a file of that name; None for one that cannot be ingested."""
    last = PurePath(name).name.lower()
    return next((kind for suffix, kind in CONTENT_TYPES.items() if last.endswith(suffix)), None)
