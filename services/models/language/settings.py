"""Settings of the language model, read from the environment only when built."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.models.endpoints import Endpoint
from services.models.usage import Prices

Provider = Literal["openai", "anthropic"]
DEFAULT_MODELS: dict[Provider, str] = {"openai": "gpt-4o-mini", "anthropic": "claude-haiku-4-5"}
DEFAULT_URLS: dict[Provider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}


class LanguageModelSettings(BaseSettings):
    """`LLM_*`; with neither key nor endpoint there is no language model, and no feature requires one."""

    model_config = SettingsConfigDict(
        env_prefix="LLM_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    provider: Provider = "openai"
    api_key: SecretStr | None = None
    model: str | None = Field(default=None, description="Default: the provider's.")
    base_url: Endpoint | None = Field(
        default=None,
        description="Any compatible endpoint; OpenAI's with `/v1`, Anthropic's without.",
    )
    input_price: float = Field(
        default=0.0,
        ge=0,
        description="US dollars for a million tokens read, for the metric of cost.",
    )
    output_price: float = Field(default=0.0, ge=0, description="The same for tokens written.")
    requests_per_minute: int = Field(default=500, ge=1, le=1_000_000)
    tokens_per_minute: int = Field(default=200_000, ge=1_000, le=1_000_000_000)
    requests_at_once: int = Field(default=8, ge=1, le=1_000)
    seconds: float = Field(
        default=120.0, gt=0, le=3_600, description="For one answer, retries included."
    )
    attempt_seconds: float = Field(default=60.0, gt=0, le=3_600)
    questions_requests_per_minute: int = Field(
        default=500,
        ge=1,
        le=1_000_000,
        description="The share of people's questions, in each process.",
    )
    questions_tokens_per_minute: int = Field(default=200_000, ge=1_000, le=1_000_000_000)
    questions_at_once: int = Field(default=16, ge=1, le=1_000)
    questions_retry_seconds: float = Field(
        default=10.0,
        ge=0,
        le=600,
        description="How long a question tries a provider again before it goes to the next model.",
    )

    @property
    def configured(self) -> bool:
        """Returns whether a model is configured."""
        return self.api_key is not None or self.base_url is not None

    @property
    def chosen_model(self) -> str:
        """Returns the model in force."""
        return self.model or DEFAULT_MODELS[self.provider]

    @property
    def prices(self) -> Prices:
        """Returns the prices of its tokens."""
        return Prices(self.input_price, self.output_price)

    @property
    def chosen_url(self) -> str:
        """Returns the endpoint in force."""
        return self.base_url or DEFAULT_URLS[self.provider]


class FallbackModelSettings(LanguageModelSettings):
    """`LLM_FALLBACK_*`: the model that answers questions while the first one is unavailable; the same fields."""

    model_config = SettingsConfigDict(
        env_prefix="LLM_FALLBACK_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
    )
