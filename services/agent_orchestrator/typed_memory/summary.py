"""Summarizes several texts without a language model: selects their most informative sentences, in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

MAX_SENTENCES = 6
MAX_CHARACTERS = 2_000
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WORD = re.compile(r"\w+")
# Shorter words are mostly grammatical, in any language.
_TELLING_LENGTH = 4
# Factor of a word's weight for each chosen sentence that contains it, so that the next one says something new.
_REPEATED = 0.4


class _Sentence(NamedTuple):
    place: int
    text: str
    words: frozenset[str]


def summarize(texts: Sequence[str]) -> str:
    """Returns sentences that share the most words with the others, but few with those chosen already."""
    sentences = _sentences(texts)
    counts = Counter(word for sentence in sentences for word in sentence.words)
    chosen: list[_Sentence] = []
    covered: Counter[str] = Counter()
    left = list(sentences)
    size = 0
    while left and len(chosen) < MAX_SENTENCES:
        best = max(left, key=lambda one: (_gain(one, counts, covered), -one.place))
        chosen.append(best)
        covered.update(best.words)
        size += len(best.text) + 1
        # Sentences that no longer fit are dropped together: one per round would take a round for each of thousands.
        left = [one for one in left if one is not best and size + len(one.text) <= MAX_CHARACTERS]
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


def _gain(sentence: _Sentence, counts: Counter[str], covered: Counter[str]) -> float:
    """Scores a sentence by how many others contain its words, normalized so that length gives no advantage."""
    shared = {word: counts[word] - 1 for word in sentence.words}
    weight = sum(count * _REPEATED ** covered[word] for word, count in shared.items())
    return float(weight / (len(sentence.words) + 3) ** 0.5)
