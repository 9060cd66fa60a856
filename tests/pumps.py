"""Texts that make a backtracking or rescanning reader slow: repeated parts, some after a beginning or before an end."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PARTS = (
    "@", ".", " ", "a", "1", "\n", "'", '"', "`", "<", "(", "[", "-", "é", "a ", "A, ", "1,", "a.", "A. ", "a@b.",
    "' a", "\n ", "- ", "a: ", "and what ", "thanks for a ", "I use A and ", "http://",
)  # fmt: skip
_BEGINNINGS = ("", "A", "a1", "<a ", "who ", "thanks for ")
_END = "\u2603"
_MAX_WORDS = 6


def general_pumps(size: int) -> Iterator[str]:
    """Yields texts of a size, made of parts that occur in text."""
    for part in _PARTS:
        yield repeated(part, size)


def pumps_of(pattern: str, size: int) -> Iterator[str]:
    """Yields texts of a size, made of the characters and words that a pattern consists of."""
    literal = re.sub(r"\\[a-zA-Z]|\{\d*,?\d*\}|\(\?[:<!=P]\w*>?", "", pattern)
    words = re.findall(r"[A-Za-z]{2,}", literal)[:_MAX_WORDS]
    characters = dict.fromkeys([*literal[:20], *"aA1 .@"])
    parts = [*characters, *(f"{word} " for word in words), *words, *(f"{one}a" for one in ".@-_ ")]
    for part in dict.fromkeys(parts):
        yield repeated(part, size)
    for beginning in _BEGINNINGS[1:]:
        yield repeated(" ", size, beginning)
    if words:
        yield repeated(" ", size, f"{words[0]} ")
        yield repeated("a", size, f"{words[0]} ")


def repeated(part: str, size: int, beginning: str = "") -> str:
    """Returns a part repeated to a size, after a beginning and before an end that fits no pattern."""
    times = max(1, (size - len(beginning)) // len(part))
    return f"{beginning}{part * times}{_END}"
