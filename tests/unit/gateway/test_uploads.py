"""A document of a JSON body: its text is what was sent, whether it was taken out in pieces or not."""

from __future__ import annotations

import json

import pytest

from gateway.rest.documents import uploads
from gateway.rest.documents.long_text import PIECE_BYTES, ExtractedText
from gateway.rest.documents.uploads import read_document

MAX_BYTES = 1024 * 1024


def sent(text: str) -> bytearray:
    return bytearray(json.dumps({"text": text, "title": "A"}), "utf-8")


@pytest.mark.parametrize("length", [0, 1, 20_000, PIECE_BYTES, 3 * PIECE_BYTES])
def test_a_text_of_any_length_is_the_documents(length: int) -> None:
    document = read_document(sent("x" * length), max_bytes=MAX_BYTES)
    assert b"".join(document.text) == b"x" * length
    assert all(len(piece) <= PIECE_BYTES for piece in document.text)
    assert document.metadata.title == "A"


def test_a_text_that_was_not_found_in_a_long_body_is_taken_from_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uploads, "take_text", lambda body, *_: ExtractedText(body, None))
    document = read_document(sent("x" * 3 * PIECE_BYTES), max_bytes=MAX_BYTES)
    assert b"".join(document.text) == b"x" * 3 * PIECE_BYTES
