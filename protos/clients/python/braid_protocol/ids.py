"""Ids as Braid's services compute them, for writers with their own chunks."""

from __future__ import annotations

import hashlib
import json
import uuid
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMESPACE = uuid.UUID("6d7a2c1e-5b0f-5c43-9e0a-0b6f5f1d4a11")


def content_sha256(text: str) -> str:
    """SHA-256 of a text as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def chunk_id(space: str, document_id: str, content_hash: str, occurrence: int) -> str:
    """UUIDv5 of a chunk: the same content at the same occurrence of a document is the same chunk."""
    return derived_uuid("chunk", space, document_id, content_hash, str(occurrence))


def derived_uuid(*parts: str) -> str:
    """UUIDv5 of a list of strings; different lists have different ids."""
    # Equals `uuid5` of `json.dumps` in a third of the time: ingestion derives several ids for each fact.
    encoded = f"[{', '.join(map(encode_basestring, parts))}]"
    digest = hashlib.sha1(_NAMESPACE.bytes + encoded.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    groups = (digest[:8], digest[8:12], f"5{digest[13:16]}", variant + digest[17:20], digest[20:32])
    return "-".join(groups)


def document_hash(
    *,
    title: str,
    source: str,
    metadata: Mapping[str, Any],
    valid_time: str | None,
    text: str,
) -> str:
    """SHA-256 of all parts of a document's version, as 64 hexadecimal digits."""
    encoded = json.dumps(
        [title, source, metadata, valid_time, text], sort_keys=True, ensure_ascii=False
    )
    return content_sha256(encoded)
