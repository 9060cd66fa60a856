"""Keeps the first failure of an extraction: Graphiti ignores some, and an episode must not be extracted in part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.runtime.errors import BraidError


class RefusedError(RuntimeError):
    """Graphiti called an operation that it must not use. It does not know this error, so it does not fall back."""


class Failures:
    """The failures of one extraction's calls."""

    def __init__(self) -> None:
        self.first: Exception | None = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Wraps one call; once any call has failed, no further one is tried."""
        if self.first is not None:
            raise self.first
        try:
            yield
        except Exception as error:
            self.first = self.first or error
            raise

    def check(self) -> None:
        """Raises the first failure, if there was one."""
        if self.first is not None:
            raise self.first

    def as_error(self, error: Exception) -> Exception:
        """Returns the error that an extraction fails with: the first failure of a call, else what Graphiti raised."""
        return self.first if isinstance(self.first, BraidError) else error
