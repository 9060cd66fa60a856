"""Finds the names in one passage: a pure function of its text, its title and the space's known names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from services.graph_query.core.names import (
    STOP_WORDS,
    clean_name,
    is_common,
    name_key,
    title_names,
    word_set,
)
from services.graph_query.core.tokens import TokenText
from services.graph_query.local_extraction.gazetteer import Gazetteer

_CONNECTORS = word_set(
    """of the de del della der den di da das do dos du la le les van von al bin ibn"""
)


_MAX_TOKENS = 6


_MIN_SINGLE = 4


_GAP = re.compile(r"[ \t\n]{1,99}|-")


_INITIAL_GAP = re.compile(r"\.[ \t]*")


_INITIAL_LENGTH = 2


class Span(NamedTuple):
    """Words `start` to `end` (exclusive) of one sentence."""

    start: int
    end: int


def find_phrases(sentence: TokenText) -> list[Span]:
    """Returns the capitalized runs of a sentence that may be names, left to right, without overlaps."""
    found = []
    at, count = 0, len(sentence.words)
    while at < count:
        if not _capital(sentence, at):
            at += 1
            continue
        end = _run_end(sentence, at)
        span = _trimmed(sentence, at, end)
        if span is not None:
            found.append(span)
        at = end
    return found


def _run_end(sentence: TokenText, start: int) -> int:
    end = start + 1
    while True:
        step = _next_capital(sentence, end)
        if step is None:
            return end
        end = step + 1


def _next_capital(sentence: TokenText, at: int) -> int | None:
    """Returns the next word of the run that ends before `at`: that word, or the capitalized one after connectors."""
    for _ in range(3):
        if at >= len(sentence.words) or not _joined(sentence, at):
            return None
        if _capital(sentence, at):
            return at
        if sentence.words[at] not in _CONNECTORS:
            return None
        at += 1
    return None


def _joined(sentence: TokenText, at: int) -> bool:
    before, after = sentence.spans[at - 1], sentence.spans[at]
    gap = sentence.text[before[1] : after[0]]
    if _GAP.fullmatch(gap):
        return True
    short = before[1] - before[0] <= _INITIAL_LENGTH
    return short and _capital(sentence, at - 1) and _INITIAL_GAP.fullmatch(gap) is not None


def _capital(sentence: TokenText, at: int) -> bool:
    return sentence.text[sentence.spans[at][0]].isupper()


def _trimmed(sentence: TokenText, start: int, end: int) -> Span | None:
    first = start
    while start < end and (sentence.words[start] in STOP_WORDS or not _capital(sentence, start)):
        start += 1
    while end > start and sentence.words[end - 1].isdigit():
        end -= 1
    if not 1 <= end - start <= _MAX_TOKENS:
        return None
    if end - start == 1 and not _strong_single(sentence, start, first):
        return None
    return Span(start, end)


def _strong_single(sentence: TokenText, at: int, first: int) -> bool:
    word = sentence.words[at]
    if at == 0 and first == 0:
        return False
    return len(word) >= _MIN_SINGLE and not is_common(word)


_LOWER_CASE_WORDS = 3


_NESTED_WORDS = 2


class MentionKind(IntEnum):
    """How a passage names an entity; the greatest applicable value is used."""

    PHRASE = 1
    NAME = 2
    ABOUT = 3


@dataclass(slots=True)
class Mention:
    """An entity's name in a passage: its spelling, its kind, and its sentences."""

    name: str
    kind: MentionKind
    sentences: list[int]


@dataclass(frozen=True, slots=True)
class Extraction:
    """All names of a passage by key, the title's names first; `subjects` are the title's names."""

    mentions: dict[str, Mention]
    subjects: tuple[str, ...]


def extract(title: str, sentences: list[TokenText], gazetteer: Gazetteer) -> Extraction:
    """Finds a passage's names: those in its title, known names (longest match), capitalized runs."""
    mentions: dict[str, Mention] = {}
    subjects = tuple(_note(mentions, name, MentionKind.ABOUT) for name in title_names(title))
    for number, places in enumerate(gazetteer.find(sentences)):
        sentence = sentences[number]
        known = longest([place for place in places if _is_named(sentence, place)])
        for start, end, key in known:
            surface = _surface(sentence, Span(start, end))
            for name in names_at(sentence, Span(start, end), gazetteer.names_of(key)):
                _note_in(mentions, name, surface, MentionKind.NAME, number)
        for span in find_phrases(sentence):
            if _is_free(span, known):
                surface = _surface(sentence, span)
                _note_in(mentions, name_key(surface), surface, MentionKind.PHRASE, number)
    return Extraction(mentions, tuple(dict.fromkeys(subjects)))


def _note(mentions: dict[str, Mention], name: str, kind: MentionKind) -> str:
    key = name_key(name)
    mentions.setdefault(key, Mention(name, kind, []))
    return key


def _note_in(
    mentions: dict[str, Mention], key: str, surface: str, kind: MentionKind, number: int
) -> None:
    mention = mentions.setdefault(key, Mention(clean_name(surface), kind, []))
    mention.kind = max(mention.kind, kind)
    if not mention.sentences or mention.sentences[-1] != number:
        mention.sentences.append(number)


def _surface(sentence: TokenText, span: Span) -> str:
    return sentence.text[sentence.spans[span.start][0] : sentence.spans[span.end - 1][1]]


def _is_named(sentence: TokenText, place: tuple[int, int, str]) -> bool:
    """Returns whether a match is written as a name: not lower case, three words or more, or joined by punctuation."""
    start, end, _ = place
    if end - start >= _LOWER_CASE_WORDS:
        return True
    if not sentence.text[sentence.spans[start][0]].islower():
        return True
    between = sentence.text[sentence.spans[start][1] : sentence.spans[end - 1][0]]
    return end - start > 1 and between != "" and not between[0].isspace()


def longest(places: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Returns the longest matches from left to right, and matches of two words or more inside them."""
    kept: list[tuple[int, int, str]] = []
    reach = 0
    for start, end, key in sorted(places, key=lambda place: (place[0], -place[1])):
        if start >= reach:
            kept.append((start, end, key))
            reach = end
        elif end <= reach and end - start >= _NESTED_WORDS:
            kept.append((start, end, key))
    return kept


def names_at(sentence: TokenText, span: Span, names: tuple[str, ...]) -> list[str]:
    """Returns the names that a match stands for: exact matches (the longest), else all that need no symbol."""
    begin = sentence.spans[span.start][0]
    exact = [name for name in names if name_key(sentence.text[begin : begin + len(name)]) == name]
    if exact:
        longest = max(len(name) for name in exact)
        return [name for name in exact if len(name) == longest]
    if span.end - span.start == 1:
        return [name for name in names if name[-1].isalnum() and name[0].isalnum()]
    return list(names)


def _is_free(span: Span, known: list[tuple[int, int, str]]) -> bool:
    """Returns whether a run overlaps no known name, or contains it with further words."""
    for start, end, _ in known:
        apart = span.end <= start or span.start >= end
        holds = span.start <= start and end <= span.end and span.end - span.start > end - start
        if not apart and not holds:
            return False
    return True
