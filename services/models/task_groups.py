"""Unwraps failures of task groups to the plain exceptions that callers catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def first_failure() -> Iterator[None]:
    """Wraps a TaskGroup: raises the first task's exception itself instead of the group."""
    try:
        yield
    except ExceptionGroup as group:
        raise _first(group) from None


def _first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
