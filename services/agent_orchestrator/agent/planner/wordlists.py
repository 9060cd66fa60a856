"""Helpers for the planner's word lists and patterns."""

from __future__ import annotations

import re


def words(*lines: str) -> tuple[str, ...]:
    """Returns the words of some lines, in order."""
    return tuple(word for line in lines for word in line.split())


def word_set(*lines: str) -> frozenset[str]:
    """Returns the words of some lines as a set."""
    return frozenset(words(*lines))


def phrases(*alternatives: str) -> re.Pattern[str]:
    """Returns a pattern that finds any of the phrases as whole words. A phrase may itself be a pattern."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


def opening(*alternatives: str) -> re.Pattern[str]:
    """Returns a pattern that finds any of the phrases at the start of a text, after a word such as "and" or "so"."""
    return re.compile(
        rf"^(?:(?:and|so|but|or|then) ){{0,5}}(?:{'|'.join(alternatives)})\b", re.IGNORECASE
    )
