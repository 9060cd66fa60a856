"""Builds the reranking models: the local one, and the one named by the settings."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from services.models.local.model_files import MS_MARCO_MINILM, ModelFilesInvalid
from services.models.reranking.cross_encoder import CrossEncoder
from services.models.reranking.endpoint import HttpReranker
from services.models.reranking.reranker import Reranker
from services.models.reranking.settings import RerankerSettings
from services.runtime.telemetry import get_logger


def build_cross_encoder(models_folder: Path, workers: int | None) -> CrossEncoder:
    """Returns the local reranking model. No I/O; its weights load on first use.

    `models_folder` stores converted models; `workers` is the number of cores, None for all.
    """
    return CrossEncoder(models_folder, workers=workers or os.cpu_count() or 1)


async def report_unusable_cross_encoder() -> None:
    """Logs an error if a file of the local reranking model is missing or has another digest; loads nothing.

    Searches work on without it, and say DEGRADED where it would have decided.
    """
    try:
        await asyncio.to_thread(MS_MARCO_MINILM.verified)
    except ModelFilesInvalid as error:
        get_logger("models").error("no local reranking", cause=str(error))


def build_reranker(settings: RerankerSettings) -> Reranker | None:
    """Returns the reranking model, or None if none is configured. No I/O; its library loads on first use."""
    if settings.base_url is None:
        return None
    return HttpReranker(
        model=settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        api=settings.api,
        limit=settings.seconds,
    )
