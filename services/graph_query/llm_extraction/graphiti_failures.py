"""The first failure of a reading: Graphiti passes over some, and an episode must not be read in part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.runtime.errors import BraidError


class RefusedError(RuntimeError):
    """Graphiti asked for what is not its own to do. It knows no such error, so it does not go another way."""


class Failures:
    """Failures of one reading's calls."""

    def __init__(self) -> None:
        self.first: Exception | None = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Around one call: after a failure of any, nothing more is tried."""
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
        """What a reading fails with: the first failure of a call, else whatever Graphiti raised."""
        return self.first if isinstance(self.first, BraidError) else error
