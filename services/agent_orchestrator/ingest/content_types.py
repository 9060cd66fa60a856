"""The content types of uploads that ingestion reads."""

from __future__ import annotations

PLAIN = "text/plain"
MARKDOWN = "text/markdown"
HTML = "text/html"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
JSON_LINES = "application/jsonl"
MESSAGES = "application/vnd.braid.messages+jsonl"
MAIL = "message/rfc822"
MAILBOX = "application/mbox"
