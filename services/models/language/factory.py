"""Builds the language model that the settings name."""

from __future__ import annotations

from services.models.language.limited_model import LimitedModel, Limits, Provider
from services.models.language.model import LanguageModel
from services.models.language.settings import LanguageModelSettings
from services.models.throttle import Throttle
from services.models.usage import ModelUsage

# Imports in the functions: a process pays for the provider that it uses only.


def build_language_model(
    settings: LanguageModelSettings, throttle: Throttle | None = None
) -> LanguageModel | None:
    """The language model, or None when none is configured. No I/O; libraries load when first used.

    `throttle` is its share of its provider, where others ask that as well.
    """
    if not settings.configured:
        return None
    limits = Limits(
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
        max_concurrent=settings.requests_at_once,
        limit=settings.seconds,
        attempt=settings.attempt_seconds,
    )
    return LimitedModel(
        settings.chosen_model,
        lambda: _connect(settings),
        limits,
        throttle=throttle,
        usage=ModelUsage("language", settings.chosen_model, settings.prices),
    )


def _connect(settings: LanguageModelSettings) -> Provider:
    options = {
        "model": settings.chosen_model,
        "base_url": settings.chosen_url,
        # Servers on one's own machine need none, but the libraries insist on something.
        "api_key": settings.api_key.get_secret_value() if settings.api_key else "none",
    }
    if settings.provider == "anthropic":
        from services.models.language.anthropic import AnthropicMessages  # noqa: PLC0415

        return AnthropicMessages(**options)
    from services.models.language.openai import OpenAIChat  # noqa: PLC0415

    return OpenAIChat(**options)
