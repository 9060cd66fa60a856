"""Capitalised runs: names that nothing but their spelling gives away."""

from __future__ import annotations

import re
from typing import NamedTuple

from services.graph_query.extraction.tokens import TokenText
from services.graph_query.names import STOP_WORDS, is_common, word_set

_CONNECTORS = word_set(
    """of the de del della der den di da das do dos du la le les van von al bin ibn"""
)
_MAX_TOKENS = 6
_MIN_SINGLE = 4
_GAP = re.compile(r"[ \t\n]+|-")
_INITIAL_GAP = re.compile(r"\.[ \t]*")
_INITIAL_LENGTH = 2


class Span(NamedTuple):
    """Words `start` to `end` (exclusive) of one sentence."""

    start: int
    end: int


def find_phrases(sentence: TokenText) -> list[Span]:
    """The capitalised runs of a sentence that may be names, left to right, none overlapping."""
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
    """The next word of the run that ends before `at`: the word itself or one after inner small words."""
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
