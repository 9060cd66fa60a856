"""Builds the reranking model named by the settings."""

from __future__ import annotations

from services.models.reranking.endpoint import HttpReranker
from services.models.reranking.reranker import Reranker
from services.models.reranking.settings import RerankerSettings


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
