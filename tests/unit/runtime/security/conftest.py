"""Fixtures of the credential tests: a token issuer, and recorded security events."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.runtime.security.events import SecurityEvents
from tests.stubs.issuer import Issuer


class RecordedEvents(SecurityEvents):
    """Keeps events instead of logging them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, object]]] = []

    def record(self, event: str, **attributes: object) -> None:
        self.seen.append((event, attributes))

    @property
    def names(self) -> list[str]:
        """Returns the names of the events in order."""
        return [event for event, _ in self.seen]


@pytest.fixture
def recorded() -> RecordedEvents:
    return RecordedEvents()


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as running:
        yield running
