"""Records a store's statements as spans and in a histogram: by the query's name, never with its text or parameters."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from services.runtime.instruments import STORE_DURATION, histogram
from services.runtime.tracing import span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.metrics import Meter


class StatementMeter:
    """Records the statements that a process sends to one kind of store."""

    def __init__(self, system: str, meter: Meter | None = None) -> None:
        self._system = system
        self._duration = histogram(STORE_DURATION, meter)

    @contextmanager
    def statement(self, name: str) -> Iterator[None]:
        """Encloses one statement."""
        attributes = {"db.system.name": self._system, "db.query.summary": name}
        started = time.perf_counter()
        try:
            with span(f"{self._system} {name}", attributes):
                yield
        finally:
            self._duration.record(time.perf_counter() - started, attributes)
