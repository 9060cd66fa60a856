"""Reads word lists written as running text."""


def word_set(words: str) -> frozenset[str]:
    """Returns the words of a list that is written as running text."""
    return frozenset(words.split())
