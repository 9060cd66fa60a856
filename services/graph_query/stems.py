"""Stems of words: what is left of `owners` and `owner` when a question is compared with facts and their relations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

from Stemmer import Stemmer

from services.graph_query.lucene import query_terms
from services.graph_query.names import STOP_WORDS, link_token
from services.graph_query.plain_words import all_words, plain_word

_SHORTEST_BEGINNING = 3
# Of a longer stem a letter more, as it is like more words.
_LONGER_STEM = 6


def question_stems(text: str) -> frozenset[str]:
    """The stems of the words of a question that are worth looking for, each word once however it is spelled."""
    return stems_of(query_terms(_parted(text)))


@lru_cache(maxsize=16_384)
def text_stems(text: str) -> frozenset[str]:
    """The stems of all words of a statement or of a relation's name."""
    return stems_of(all_words(_parted(text)))


def stems_of(words: Iterable[str]) -> frozenset[str]:
    """The stems of lower-case words, without accents."""
    return frozenset(_stem(link_token(plain_word(word))) for word in words)


def names_relation(stems: Set[str], relation: str) -> bool:
    """Whether one of these stems of a question names a relation: `owner` and `leader` name OWNS and LEADS."""
    return any(_is_alike(stem, own) for own in _relation_stems(relation) for stem in stems)


def relation_beginnings(terms: Sequence[str]) -> list[str]:
    """Beginnings of three or four letters that the key of a relation named by one of the terms may have in it."""
    stems = sorted(stem for stem in stems_of(terms) if len(stem) >= _SHORTEST_BEGINNING)
    return list(
        dict.fromkeys(stem[: _SHORTEST_BEGINNING + (len(stem) >= _LONGER_STEM)] for stem in stems)
    )


@lru_cache(maxsize=8_192)
def _relation_stems(relation: str) -> frozenset[str]:
    return stems_of(all_words(_parted(relation)) - STOP_WORDS)


def _is_alike(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _SHORTEST_BEGINNING and longer.startswith(shorter))


def _parted(text: str) -> str:
    """A text with the words of names like WORKS_AT apart."""
    return text.replace("_", " ")


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    stem: str = Stemmer("english").stemWord(word)
    return stem
