"""Builds the language model named by the settings."""

from __future__ import annotations

from services.models.language.limited_model import LimitedModel, Limits, Provider
from services.models.language.model import LanguageModel
from services.models.language.settings import LanguageModelSettings
from services.models.throttle import Throttle
from services.models.usage import ModelUsage

# Imported in the functions, so that a process loads only the provider that it uses.


def build_language_model(
    settings: LanguageModelSettings, throttle: Throttle | None = None
) -> LanguageModel | None:
    """Returns the language model, or None if none is configured. No I/O; libraries load on first use.

    `throttle` is its share of a provider that is also used otherwise.
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
        # Local servers need no key, but the libraries require a value.
        "api_key": settings.api_key.get_secret_value() if settings.api_key else "none",
    }
    if settings.provider == "anthropic":
        from services.models.language.anthropic import AnthropicMessages  # noqa: PLC0415

        return AnthropicMessages(**options)
    from services.models.language.openai import OpenAIChat  # noqa: PLC0415

    return OpenAIChat(**options)
