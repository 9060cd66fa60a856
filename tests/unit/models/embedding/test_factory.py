"""The settings choose the embedder, and heavy libraries are not loaded before use."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from services.models.embedding import local_models
from services.models.embedding.cache import CachedEmbedder
from services.models.embedding.factory import build_embedder, verify_local_model
from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODEL, LOCAL_MODELS
from services.models.embedding.openai import OpenAIEmbedder
from services.models.embedding.settings import EmbeddingSettings
from tests.stubs.openai_server import OpenAIStub


def settings(monkeypatch: pytest.MonkeyPatch, **environment: str) -> EmbeddingSettings:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return EmbeddingSettings()


async def test_without_a_key_the_local_model_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = build_embedder(settings(monkeypatch, EMBEDDING_API_KEY=""))
    assert isinstance(embedder, CachedEmbedder)
    assert (embedder.model, embedder.dimension) == ("bge-small-en-v1.5", 384)
    await embedder.close()


async def test_with_a_key_openais_small_model_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = build_embedder(settings(monkeypatch, EMBEDDING_API_KEY="sk-x"))
    assert (embedder.model, embedder.dimension) == ("text-embedding-3-small", 1536)


async def test_an_endpoint_without_a_key_is_used(
    monkeypatch: pytest.MonkeyPatch, stub: OpenAIStub
) -> None:
    """Servers on the user's own machine need no key."""
    stub.dimension = 4
    chosen = settings(monkeypatch, EMBEDDING_BASE_URL=stub.base_url, EMBEDDING_MODEL="nomic")
    embedder = build_embedder(chosen)
    assert (await embedder.embed(["a"])).shape == (1, 4)
    assert stub.requests[0].json["model"] == "nomic"
    await embedder.close()


@pytest.mark.parametrize(
    "url", ["localhost:11434", "api.example.org/v1", "http:///v1", "ftp://a/v1", "http://[::1"]
)
def test_an_endpoint_must_be_an_http_url(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    with pytest.raises(ValidationError, match=r"http://|no URL"):
        settings(monkeypatch, EMBEDDING_BASE_URL=url)


async def test_a_configured_provider_takes_precedence_over_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = settings(
        monkeypatch,
        EMBEDDING_API_KEY="sk-x",
        EMBEDDING_PROVIDER="local",
        EMBEDDING_CACHE_ENTRIES="0",
    )
    assert isinstance(build_embedder(chosen), LocalEmbedder)


async def test_all_settings_are_applied_to_a_compatible_server(
    monkeypatch: pytest.MonkeyPatch, stub: OpenAIStub
) -> None:
    stub.dimension = 32
    embedder = build_embedder(
        settings(
            monkeypatch,
            EMBEDDING_PROVIDER="openai",
            EMBEDDING_BASE_URL=stub.base_url,
            EMBEDDING_MODEL="bge-small",
            EMBEDDING_DIMENSION="32",
            EMBEDDING_CACHE_ENTRIES="0",
        )
    )
    assert isinstance(embedder, OpenAIEmbedder)
    assert embedder.dimension == 32
    assert (await embedder.embed(["a"])).shape == (1, 32)
    assert stub.requests[0].json["model"] == "bge-small"
    await embedder.close()


@pytest.mark.parametrize(
    "environment",
    [
        {"EMBEDDING_PROVIDER": "openai"},
        {"EMBEDDING_PROVIDER": "cohere"},
        {"EMBEDDING_DIMENSION": "0"},
        {"EMBEDDING_DIMENSION": "512"},
        {"EMBEDDING_MODEL": "all-mpnet-base-v2"},
    ],
)
def test_invalid_settings_are_rejected(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    with pytest.raises(ValidationError):
        settings(monkeypatch, **environment)


def test_the_key_is_never_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings(monkeypatch, EMBEDDING_API_KEY="sk-secret")
    assert "sk-secret" not in f"{chosen!r} {chosen} {chosen.model_dump_json()}"
    with pytest.raises(ValidationError) as failure:
        settings(monkeypatch, EMBEDDING_DIMENSION="many")
    assert "sk-secret" not in str(failure.value)


@pytest.mark.parametrize(
    ("cache_home", "expected"),
    [
        ("/var/cache/someone", "/var/cache/someone/braid/models"),
        ("relative", ".cache/braid/models"),
    ],
)
def test_models_are_stored_in_the_users_cache_folder(
    monkeypatch: pytest.MonkeyPatch, cache_home: str, expected: str
) -> None:
    folder = settings(monkeypatch, XDG_CACHE_HOME=cache_home).models_folder
    assert folder == Path.home() / expected


async def test_a_start_without_the_models_files_ends_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    local = LOCAL_MODELS[LOCAL_MODEL]
    broken = replace(local, files=replace(local.files, digests={"none.onnx": ""}))
    await verify_local_model(settings(monkeypatch))
    monkeypatch.setattr(local_models, "LOCAL_MODELS", {LOCAL_MODEL: broken})
    with pytest.raises(SystemExit, match=r"bge-small-en-v1\.5.*none\.onnx is missing"):
        await verify_local_model(EmbeddingSettings(provider="local"))
    await verify_local_model(EmbeddingSettings(provider="openai", api_key=SecretStr("sk-x")))


@pytest.mark.parametrize("provider", ["local", "openai"])
def test_an_idle_process_loads_no_model_and_no_providers_library(provider: str) -> None:
    code = f"""
import sys
from services.models.embedding.factory import build_embedder
from services.models.embedding.settings import EmbeddingSettings
build_embedder(EmbeddingSettings(provider={provider!r}, api_key="sk-x"))
print(sorted({{"ctranslate2", "tokenizers", "openai", "torch"}} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
