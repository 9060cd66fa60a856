"""Word lists as running text."""


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written as running text."""
    return frozenset(words.split())
