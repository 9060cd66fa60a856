"""The registry returns embedders by the name of their model."""

from __future__ import annotations

import pytest

from services.models.breaker import Breakers
from services.models.embedding.factory import build_embedder
from services.models.embedding.registry import EmbedderRegistry, embedder_of, has_length, length_of
from services.models.embedding.settings import EmbeddingSettings
from tests.stubs.embedders import StubEmbedder

SMALL = "text-embedding-3-small"


def registry(monkeypatch: pytest.MonkeyPatch, **environment: str) -> EmbedderRegistry:
    """Returns the models of the settings."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = EmbeddingSettings()
    breakers = Breakers()
    return EmbedderRegistry(settings, build_embedder(settings, breakers), breakers)


async def test_the_local_model_and_all_models_of_the_configured_provider_are_available(
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


async def test_a_former_model_embeds_with_the_length_of_a_spaces_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = registry(
        monkeypatch, EMBEDDING_API_KEY="sk-x", EMBEDDING_MODEL="text-embedding-3-large"
    )
    short, own = (embedder_of(models, SMALL, length) for length in (512, 1536))
    assert short is not None
    assert own is not None
    assert (short.model, short.dimension, own.dimension) == (SMALL, 512, 1536)
    assert embedder_of(models, SMALL, 512) is short
    assert embedder_of(models, SMALL) is embedder_of(models, SMALL, 0) is own
    await models.close()
    await models.default.close()


@pytest.mark.parametrize(("configured", "recorded"), [(None, 512), ("512", 1536), ("512", 1024)])
async def test_the_configured_model_embeds_with_a_recorded_length_other_than_configured(
    monkeypatch: pytest.MonkeyPatch, configured: str | None, recorded: int
) -> None:
    models = registry(monkeypatch, EMBEDDING_API_KEY="sk-x", EMBEDDING_DIMENSION=configured or "")
    found = embedder_of(models, SMALL, recorded)
    assert found is not None
    assert (found.model, found.dimension) == (SMALL, recorded)
    assert models.dimension == int(configured or 1536)
    assert models.named(SMALL, models.dimension) is models.default
    await models.close()
    await models.default.close()


@pytest.mark.parametrize(
    ("model", "recorded"),
    [(SMALL, 4_000), ("text-embedding-ada-002", 512), ("any-other", 512)],
)
async def test_an_unsupported_length_is_not_requested_from_the_provider(
    monkeypatch: pytest.MonkeyPatch, model: str, recorded: int
) -> None:
    """For the configured model and for others: the caller compares the length with that of the space."""
    for chosen in (model, "text-embedding-3-large"):
        models = registry(monkeypatch, EMBEDDING_API_KEY="sk-x", EMBEDDING_MODEL=chosen)
        found = models.named(model, recorded)
        assert found is not None
        assert found is models.named(model)
        assert length_of(found) != recorded
        await models.close()
        await models.default.close()


def test_a_single_embedder_is_returned_for_its_model_at_any_length() -> None:
    single = StubEmbedder("one", 4)
    assert embedder_of(single, "one", 5) is single
    assert [has_length(single, length) for length in (None, 0, 4, 5)] == [True, True, True, False]


async def test_without_a_provider_only_the_local_model_is_available(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = registry(monkeypatch, EMBEDDING_API_KEY="")
    assert embedder_of(models, "text-embedding-3-small") is None
    await models.default.close()


def test_a_single_embedder_is_returned_only_for_its_own_model() -> None:
    single = StubEmbedder("one")
    assert embedder_of(single, "") is embedder_of(single, "one") is single
    assert embedder_of(single, "two") is None


async def test_the_length_of_an_unknown_model_is_none_until_its_first_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = registry(monkeypatch, EMBEDDING_API_KEY="sk-x")
    other = embedder_of(models, "any-other")
    assert other is not None
    assert length_of(other) is None
    assert length_of(StubEmbedder("one", 3)) == 3
    await models.close()
    await models.default.close()
