from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODELS
from tests.stubs.openai_server import OpenAIStub


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Removes keys, proxies and `.env` of the user who runs the tests."""
    for name in os.environ:
        if name.upper().startswith(("EMBEDDING_", "OPENAI_", "XDG_")) or "PROXY" in name.upper():
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture
async def local(model_folder: Path) -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder(LOCAL_MODELS["all-MiniLM-L6-v2"], model_folder, workers=2)
    yield embedder
    await embedder.close()


@pytest.fixture
async def stub() -> AsyncIterator[OpenAIStub]:
    async with OpenAIStub() as server:
        yield server
