"""Identifiers shared by both tiers: a chunk's id is its episode's uuid."""

from __future__ import annotations

import re

from braid_protocol.ids import chunk_id, content_sha256, derived_uuid, document_hash

__all__ = ["chunk_id", "content_sha256", "derived_uuid", "document_hash", "is_space"]

SPACE_PATTERN = "^[A-Za-z0-9_-]{1,64}$"
_SPACE = re.compile(SPACE_PATTERN)


def is_space(value: str) -> bool:
    """Returns whether `value` is a space id: 1–64 of A–Z a–z 0–9 _ -, matched in full."""
    return _SPACE.fullmatch(value) is not None
