"""Documents as the tiers take them: ids, hashes, spans, batches."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.agent_orchestrator.ingest.documents import ParsedDocument, UnreadableError
from services.agent_orchestrator.ingest.pipeline.prepare import Prepared, prepare

LONG = "\n\n".join(f"Paragraph {n}. " + "words " * 60 for n in range(20))
MAX = 15 * 2**20


def made(text: str = "text", document_id: str = "d", title: str = "T") -> Prepared:
    document = ParsedDocument(document_id, title, "s", text, {"k": 1})
    return prepare(document, "space", dimension=4, max_size=MAX)


def test_spans_point_into_the_text_as_it_was_given() -> None:
    chunks = made(LONG).input.chunks
    assert len(chunks) > 3
    assert all(LONG[c.start_char : c.end_char] == c.content for c in chunks)


def test_chunk_ids_depend_on_space_document_content_and_occurrence_alone() -> None:
    assert made().input.chunks[0].id == made(title="other").input.chunks[0].id
    assert made().input.chunks[0].id != made(document_id="e").input.chunks[0].id
    twice = ("same " * 250).strip()
    ids = [chunk.id for chunk in made(f"{twice}\n\n{twice}").input.chunks]
    assert len(set(ids)) == len(ids) == 2


def test_an_unchanged_paragraph_keeps_its_chunk_id() -> None:
    before = {c.id for c in made(LONG).input.chunks}
    after = {c.id for c in made(LONG + "\n\nOne more.").input.chunks}
    assert len(before - after) <= 1


def test_the_hash_tells_every_difference() -> None:
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


def test_a_document_that_no_message_can_hold_is_refused() -> None:
    document = ParsedDocument("d", "", "", "word " * 30_000)
    with pytest.raises(UnreadableError, match="split it"):
        prepare(document, "space", dimension=384, max_size=2**16)


def test_numbers_beyond_json_are_refused() -> None:
    document = ParsedDocument("d", "", "", "text", {"n": 10**400})
    with pytest.raises(UnreadableError, match="out of range"):
        prepare(document, "space", dimension=4, max_size=MAX)
