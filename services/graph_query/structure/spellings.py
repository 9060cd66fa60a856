"""The names under which an entity is known beside the one that is shown."""

from __future__ import annotations

from collections.abc import Iterable

_LISTED = 50


def other_spellings(name: str, spellings: Iterable[str]) -> tuple[str, ...]:
    """The first 50 other spellings in alphabetical order."""
    return tuple(sorted(set(spellings) - {name}))[:_LISTED]
