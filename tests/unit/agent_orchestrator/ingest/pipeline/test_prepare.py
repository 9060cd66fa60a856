"""Documents are prepared for the tiers: spans, chunk ids, content hashes and limits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.agent_orchestrator.ingest.documents import ParsedDocument, UnreadableError
from services.agent_orchestrator.ingest.pipeline.prepare import Prepared, prepare

LONG = "\n\n".join(f"Paragraph {n}. " + "words " * 60 for n in range(20))
MAX = 15 * 2**20


def prepared(text: str = "text", document_id: str = "d", title: str = "T") -> Prepared:
    document = ParsedDocument(document_id, title, "s", text, {"k": 1})
    return prepare(document, "space", dimension=4, max_size=MAX)


def test_spans_refer_to_the_original_text() -> None:
    chunks = prepared(LONG).input.chunks
    assert len(chunks) > 3
    assert all(LONG[c.start_char : c.end_char] == c.content for c in chunks)


def test_chunk_ids_depend_only_on_space_document_content_and_occurrence() -> None:
    assert prepared().input.chunks[0].id == prepared(title="other").input.chunks[0].id
    assert prepared().input.chunks[0].id != prepared(document_id="e").input.chunks[0].id
    twice = ("same " * 250).strip()
    ids = [chunk.id for chunk in prepared(f"{twice}\n\n{twice}").input.chunks]
    assert len(set(ids)) == len(ids) == 2


def test_an_unchanged_paragraph_keeps_its_chunk_id() -> None:
    before = {c.id for c in prepared(LONG).input.chunks}
    after = {c.id for c in prepared(LONG + "\n\nOne more.").input.chunks}
    assert len(before - after) <= 1


def test_the_content_hash_differs_if_any_field_differs() -> None:
    base = ParsedDocument("d", "T", "s", "text", {"k": 1})
    variants = [
        base,
        ParsedDocument("d", "U", "s", "text", {"k": 1}),
        ParsedDocument("d", "T", "t", "text", {"k": 1}),
        ParsedDocument("d", "T", "s", "text!", {"k": 1}),
        ParsedDocument("d", "T", "s", "text", {"k": 2}),
        ParsedDocument("d", "T", "s", "text", {"k": 1}, datetime(2024, 1, 1, tzinfo=UTC)),
    ]
    hashes = {
        prepare(one, "space", dimension=4, max_size=MAX).input.content_hash for one in variants
    }
    assert len(hashes) == len(variants)


def test_a_document_that_is_too_large_for_a_message_is_rejected() -> None:
    document = ParsedDocument("d", "", "", "word " * 30_000)
    with pytest.raises(UnreadableError, match="split it"):
        prepare(document, "space", dimension=384, max_size=2**16)


def test_metadata_numbers_that_are_out_of_range_are_rejected() -> None:
    document = ParsedDocument("d", "", "", "text", {"n": 10**400})
    with pytest.raises(UnreadableError, match="out of range"):
        prepare(document, "space", dimension=4, max_size=MAX)
