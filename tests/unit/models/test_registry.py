"""Embedders by the name of their model."""

from __future__ import annotations

import pytest

from services.models.factory import build_embedder
from services.models.registry import EmbedderRegistry, embedder_of, length_of
from services.models.settings import EmbeddingSettings
from tests.stubs.embedders import StubEmbedder


def registry(monkeypatch: pytest.MonkeyPatch, **environment: str) -> EmbedderRegistry:
    """The models that the settings tell of."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = EmbeddingSettings()
    return EmbedderRegistry(settings, build_embedder(settings))


async def test_the_local_model_and_any_of_the_configured_provider_are_to_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = registry(monkeypatch, EMBEDDING_API_KEY="sk-x", EMBEDDING_DIMENSION="512")
    assert embedder_of(models, "") is models
    assert embedder_of(models, "text-embedding-3-small") is models
    local, other = (embedder_of(models, name) for name in ("all-MiniLM-L6-v2", "any-other"))
    assert local is not None
    assert local.dimension == 384
    assert other is not None
    assert other.model == "any-other"
    assert embedder_of(models, "any-other") is other
    await models.close()
    await models.default.close()


async def test_without_a_provider_only_the_local_model_is(monkeypatch: pytest.MonkeyPatch) -> None:
    models = registry(monkeypatch, EMBEDDING_API_KEY="")
    assert embedder_of(models, "text-embedding-3-small") is None
    await models.default.close()


def test_an_embedder_alone_is_that_of_its_own_model() -> None:
    alone = StubEmbedder("one")
    assert embedder_of(alone, "") is embedder_of(alone, "one") is alone
    assert embedder_of(alone, "two") is None


async def test_the_length_of_a_model_that_is_not_known_is_none_until_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = registry(monkeypatch, EMBEDDING_API_KEY="sk-x")
    other = embedder_of(models, "any-other")
    assert other is not None
    assert length_of(other) is None
    assert length_of(StubEmbedder("one", 3)) == 3
    await models.close()
    await models.default.close()
