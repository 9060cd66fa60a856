"""The real local models: the one that reads statements, and the one whose vectors choose tools."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.tool_choice import (
    ChooseTool,
    ToolChoice,
    ToolChooser,
)
from services.agent_orchestrator.agent.question_vectors import QuestionVectors
from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODELS
from services.models.reranking.cross_encoder import CrossEncoder


@pytest.fixture(scope="session")
async def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[CrossEncoder]:
    encoder = CrossEncoder(tmp_path_factory.mktemp("models"), workers=2)
    yield encoder
    await encoder.close()


@pytest.fixture
def reading(cross_encoder: CrossEncoder) -> Reading:
    return Reading(cross_encoder.score_pairs)


@pytest.fixture(scope="session")
async def choose(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChooseTool]:
    local = LOCAL_MODELS["bge-small-en-v1.5"]
    embedder = LocalEmbedder(local, tmp_path_factory.mktemp("embedder"), workers=2)
    yield ToolChooser(ToolChoice.load(), QuestionVectors(embedder).vector_of).choose
    await embedder.close()
