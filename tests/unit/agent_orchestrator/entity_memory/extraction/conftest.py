"""The gazetteer, loaded once per session."""

import pytest

from services.agent_orchestrator.entity_memory.extraction import KnownNames


@pytest.fixture(scope="session")
def known_names() -> KnownNames:
    return KnownNames.load()
