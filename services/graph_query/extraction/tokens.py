"""A passage's text as words with their places: what matching and phrase finding work on."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from services.graph_query.extraction.sentences import split_sentences
from services.graph_query.names import WORD, link_token


@dataclass(frozen=True, slots=True)
class TokenText:
    """One sentence: its text, its words' spans in it and their folded forms."""

    text: str
    spans: list[tuple[int, int]]
    words: list[str]


def tokenize(content: str) -> list[TokenText]:
    """The sentences of a text with their words."""
    return [
        _token_text(sentence) for sentence in split_sentences(unicodedata.normalize("NFC", content))
    ]


def searchable_words(sentences: list[TokenText]) -> str:
    """All folded words in order, joined by single spaces: what older episodes are found by."""
    return " ".join(word for sentence in sentences for word in sentence.words)


def _token_text(sentence: str) -> TokenText:
    spans = [match.span() for match in WORD.finditer(sentence)]
    if sentence.isascii():
        folded = sentence.lower()
        return TokenText(sentence, spans, [folded[start:end] for start, end in spans])
    return TokenText(sentence, spans, [link_token(sentence[start:end]) for start, end in spans])
