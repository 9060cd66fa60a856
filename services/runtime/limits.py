"""What more than one service holds its callers to."""

from __future__ import annotations

MOST_LEVELS = 32
"""Of values within values of metadata: protobuf reads no deeper messages, and an answer holds it within some."""

MOST_METADATA_BYTES = 512 * 1024
"""Of a document's metadata as a message: every hit of the document carries it."""

MOST_METADATA_TEXT = 128 * 1024
"""Bytes of an ingested document's names and texts in metadata: with as many values as there may be, it still fits."""
