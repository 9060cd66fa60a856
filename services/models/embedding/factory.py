"""Builds the embedder named by the settings."""

from __future__ import annotations

import asyncio
import os

from services.models.breaker import Breakers
from services.models.embedding.embedder import Embedder
from services.models.embedding.settings import OPENAI_BASE_URL, OPENAI_MODEL, EmbeddingSettings
from services.models.local.model_files import ModelFilesInvalid
from services.models.usage import ModelUsage, Prices

# Imported in the functions, so that a process loads only the provider that it uses.


def build_embedder(settings: EmbeddingSettings, breakers: Breakers | None = None) -> Embedder:
    """Builds the embedder, behind a cache. No I/O: weights and the provider's library load on first use.

    `breakers` has the provider's circuit breaker, which is shared with other embedders built with these.
    """
    inner = (
        _openai(settings, breakers) if settings.chosen_provider == "openai" else _local(settings)
    )
    if settings.cache_entries == 0:
        return inner
    from services.models.embedding.cache import CachedEmbedder  # noqa: PLC0415

    return CachedEmbedder(inner, settings.cache_entries)


async def verify_local_model(settings: EmbeddingSettings) -> None:
    """Checks the files of the configured local model, in 30 to 90 ms; loads nothing.

    Raises SystemExit with the reason if a file is missing or has another digest. Without a local model it does nothing.
    """
    if settings.chosen_provider != "local":
        return
    from services.models.embedding.local_models import LOCAL_MODEL, LOCAL_MODELS  # noqa: PLC0415

    try:
        await asyncio.to_thread(LOCAL_MODELS[settings.model or LOCAL_MODEL].files.verified)
    except ModelFilesInvalid as error:
        raise SystemExit(str(error)) from None


def _local(settings: EmbeddingSettings) -> Embedder:
    from services.models.embedding.local import LocalEmbedder  # noqa: PLC0415
    from services.models.embedding.local_models import LOCAL_MODEL, LOCAL_MODELS  # noqa: PLC0415

    return LocalEmbedder(
        LOCAL_MODELS[settings.model or LOCAL_MODEL],
        settings.models_folder,
        workers=settings.workers or os.cpu_count() or 1,
    )


def _openai(settings: EmbeddingSettings, breakers: Breakers | None) -> Embedder:
    from services.models.embedding.openai import OpenAIEmbedder  # noqa: PLC0415

    return OpenAIEmbedder(
        model=settings.model or OPENAI_MODEL,
        base_url=settings.base_url or OPENAI_BASE_URL,
        # Local servers need no key, but the library requires a value.
        api_key=settings.api_key.get_secret_value() if settings.api_key else "none",
        dimension=settings.dimension,
        breakers=breakers,
        usage=ModelUsage("embedding", settings.model or OPENAI_MODEL, Prices(settings.price)),
    )
