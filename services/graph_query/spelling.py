"""Which spelling of a name is shown: the best of all that are there, whoever came first."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple


class Source(IntEnum):
    """Where a spelling stands; the smaller one is preferred."""

    TITLE = 0
    STATED = 1
    TEXT = 2


class Spelling(NamedTuple):
    """A name as written somewhere."""

    source: int
    text: str


def best(spellings: Iterable[Spelling]) -> Spelling:
    """A title's spelling before a stated fact's before a sentence's; mixed case before capitals or small
    letters alone; then the first in the order of characters.
    """
    return min(spellings, key=_preference)


def _preference(spelling: Spelling) -> tuple[int, bool, str]:
    text = spelling.text
    return spelling.source, text in (text.upper(), text.lower()), text
