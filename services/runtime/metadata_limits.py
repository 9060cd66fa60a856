"""Limits on metadata that several services enforce."""

from __future__ import annotations

MAX_METADATA_DEPTH = 32
"""Nesting levels of metadata: protobuf parses at most 100, and answers nest it within other messages."""

MAX_METADATA_BYTES = 512 * 1024
"""Size of a document's metadata as a message: every hit of the document carries it."""

MAX_METADATA_TEXT_BYTES = 128 * 1024
"""Names and texts of an ingested document's metadata; with the maximal number of values it still fits a message."""
