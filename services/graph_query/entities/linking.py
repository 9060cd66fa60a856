"""Finds known names in a text: the longest match at each position, as in extraction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.graph_query.core.names import is_common
from services.graph_query.core.tokens import TokenText, tokenize
from services.graph_query.entities.domain import NamedEntity
from services.graph_query.local_extraction.extract import Span, longest, names_at

_MAX_WORDS = 10


_MAX_KEY = 1_000


class Place(NamedTuple):
    """A name in a text: its characters from `start` to `end`, and an entity with that name."""

    start: int
    end: int
    text: str
    uuid: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text split into sentences, with the start of each."""

    sentences: list[TokenText]
    begins: list[int]

    @classmethod
    def of(cls, text: str) -> Text:
        """Splits a text that is in NFC."""
        sentences, begins, at = tokenize(text), [], 0
        for sentence in sentences:
            at = text.index(sentence.text, at)
            begins.append(at)
            at += len(sentence.text)
        return cls(sentences, begins)

    def candidates(self) -> set[str]:
        """Returns linking keys that may be names in this text."""
        found = set()
        for sentence in self.sentences:
            for start, end in _windows(sentence):
                key = " ".join(sentence.words[start:end])
                if len(key) <= _MAX_KEY:
                    found.add(key)
        return found

    def places(self, known: Mapping[str, Sequence[NamedEntity]]) -> Iterator[Place]:
        """Yields matches of the known keys in order; a name that several entities share yields each of them."""
        for sentence, begin in zip(self.sentences, self.begins, strict=True):
            for start, end, key in longest(list(_matches(sentence, known))):
                first, last = sentence.spans[start][0], sentence.spans[end - 1][1]
                for uuid in _best_entities(sentence, Span(start, end), known[key]):
                    yield Place(begin + first, begin + last, sentence.text[first:last], uuid)


def _windows(sentence: TokenText) -> Iterator[tuple[int, int]]:
    count = len(sentence.words)
    for start in range(count):
        for end in range(start + 1, min(start + _MAX_WORDS, count) + 1):
            if end - start > 1 or _stands_alone(sentence, start):
                yield start, end


def _stands_alone(sentence: TokenText, place: int) -> bool:
    """Returns whether a single word may be a name: not written in lower case, and not a common word."""
    begin = sentence.spans[place][0]
    return not (sentence.text[begin].islower() or is_common(sentence.words[place]))


def _matches(
    sentence: TokenText, known: Mapping[str, Sequence[NamedEntity]]
) -> Iterator[tuple[int, int, str]]:
    for start, end in _windows(sentence):
        key = " ".join(sentence.words[start:end])
        if key in known:
            yield start, end, key


def _best_entities(sentence: TokenText, span: Span, named: Sequence[NamedEntity]) -> list[str]:
    names = names_at(sentence, span, tuple(dict.fromkeys(one.name_key for one in named)))
    return [one.uuid for one in named if one.name_key in names]
