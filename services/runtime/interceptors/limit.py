"""Bounds the calls that are served at once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from services.runtime.errors import OverloadedError
from services.runtime.interceptors.stage import Call, Stage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_RETRY_AFTER_SECONDS = 1.0


class LimitStage(Stage):
    """Refuses a call beyond `most` with what every refusal has: gRPC's own limit tells a code and no more.

    Methods that have a queue are bounded by that alone.
    """

    name: ClassVar[str] = "limit"

    def __init__(self, most: int, queued: Collection[str] = ()) -> None:
        self._most = most
        self._queued = frozenset(queued)
        self._running = 0

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        """OverloadedError when so many run already."""
        if call.method in self._queued:
            yield
            return
        if self._running >= self._most:
            raise OverloadedError(_RETRY_AFTER_SECONDS)
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
