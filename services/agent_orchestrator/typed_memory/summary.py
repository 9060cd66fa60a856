"""A summary of several texts without a language model: their most telling sentences, in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

MAX_SENTENCES = 6
MAX_CHARACTERS = 2_000
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WORD = re.compile(r"\w+")
# Shorter words are mostly grammar, whatever the language.
_TELLING_LENGTH = 4
# Words in more than this share of the sentences tell none of them from the others.
_COMMON_SHARE = 0.5
_MIN_SENTENCES_FOR_COMMON = 4


class _Sentence(NamedTuple):
    place: int
    text: str
    words: frozenset[str]


def summarise(texts: Sequence[str]) -> str:
    """Sentences that share the most words with the other ones, none that mostly repeats an earlier choice."""
    sentences = _sentences(texts)
    counts = Counter(word for sentence in sentences for word in sentence.words)
    if len(sentences) >= _MIN_SENTENCES_FOR_COMMON:
        limit = _COMMON_SHARE * len(sentences)
        counts = Counter({word: count for word, count in counts.items() if count <= limit})
    chosen: list[_Sentence] = []
    covered: set[str] = set()
    left = list(sentences)
    size = 0
    while left and len(chosen) < MAX_SENTENCES:
        best = max(left, key=lambda one: (_gain(one, counts, covered), -one.place))
        left.remove(best)
        if size + len(best.text) > MAX_CHARACTERS and chosen:
            continue
        chosen.append(best)
        covered |= best.words
        size += len(best.text) + 1
    chosen.sort()
    return "\n".join(one.text for one in chosen)[:MAX_CHARACTERS]


def _sentences(texts: Sequence[str]) -> list[_Sentence]:
    found: dict[str, _Sentence] = {}
    for text in texts:
        for part in _SENTENCE_END.split(text):
            sentence = part.strip()
            if sentence and sentence not in found:
                words = frozenset(
                    word
                    for word in _WORD.findall(sentence.casefold())
                    if len(word) >= _TELLING_LENGTH or not word.isascii()
                )
                found[sentence] = _Sentence(len(found), sentence, words)
    return list(found.values())


def _gain(sentence: _Sentence, counts: Counter[str], covered: set[str]) -> float:
    """What a sentence adds: how often its new words occur, for each of its words (long ones win nothing by length)."""
    new = sum(counts[word] for word in sentence.words - covered)
    return float(new / (len(sentence.words) + 3) ** 0.5)
