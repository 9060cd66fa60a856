"""Builds the reranking model that the settings name."""

from __future__ import annotations

from services.models.reranking.endpoint import HttpReranker
from services.models.reranking.reranker import Reranker
from services.models.reranking.settings import RerankerSettings


def build_reranker(settings: RerankerSettings) -> Reranker | None:
    """The reranking model, or None when none is configured. No I/O; its library loads when first used."""
    if settings.base_url is None:
        return None
    return HttpReranker(
        model=settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        api=settings.api,
        limit=settings.seconds,
    )
