"""The text of a document in a JSON body is the sent text, whether or not it was extracted in pieces."""

from __future__ import annotations

import json

import pytest

from gateway.rest.documents import uploads
from gateway.rest.documents.long_text import PIECE_BYTES, ExtractedText
from gateway.rest.documents.uploads import read_document

MAX_BYTES = 1024 * 1024


def body_of(text: str) -> bytearray:
    return bytearray(json.dumps({"text": text, "title": "A"}), "utf-8")


@pytest.mark.parametrize("length", [0, 1, 20_000, PIECE_BYTES, 3 * PIECE_BYTES])
def test_a_text_of_any_length_is_read_unchanged(length: int) -> None:
    document = read_document(body_of("x" * length), max_bytes=MAX_BYTES)
    assert b"".join(document.text) == b"x" * length
    assert all(len(piece) <= PIECE_BYTES for piece in document.text)
    assert document.metadata.title == "A"


def test_a_text_that_was_not_extracted_is_parsed_from_the_whole_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uploads, "take_text", lambda body, *_: ExtractedText(body, None))
    document = read_document(body_of("x" * 3 * PIECE_BYTES), max_bytes=MAX_BYTES)
    assert b"".join(document.text) == b"x" * 3 * PIECE_BYTES
