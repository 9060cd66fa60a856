"""The real local model that reads statements next to questions."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.agent_orchestrator.agent.planner.reading import Reading
from services.models.reranking.cross_encoder import CrossEncoder


@pytest.fixture(scope="session")
async def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[CrossEncoder]:
    encoder = CrossEncoder(tmp_path_factory.mktemp("models"), workers=2)
    yield encoder
    await encoder.close()


@pytest.fixture
def reading(cross_encoder: CrossEncoder) -> Reading:
    return Reading(cross_encoder.score)
