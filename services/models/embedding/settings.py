"""Settings of the embedding model, read from the environment only when built."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.models.embedding.local_models import LOCAL_MODEL, LOCAL_MODELS
from services.models.endpoints import Endpoint

OPENAI_MODEL = "text-embedding-3-small"
OPENAI_BASE_URL = "https://api.openai.com/v1"


class EmbeddingSettings(BaseSettings):
    """`EMBEDDING_*`; without any setting the local model is used. Raises ValidationError for invalid settings."""

    model_config = SettingsConfigDict(
        env_prefix="EMBEDDING_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    provider: Literal["local", "openai"] | None = Field(
        default=None,
        description="Default: `openai` when there is a key or an endpoint, else `local`.",
    )
    api_key: SecretStr | None = None
    model: str | None = Field(default=None, description="Default: the provider's.")
    base_url: Endpoint | None = Field(
        default=None, description="Any OpenAI-compatible endpoint, `/v1` included."
    )
    dimension: int | None = Field(
        default=None,
        ge=1,
        le=16_000,
        description="Asked of text-embedding-3 models, checked of others; default: the model's own.",
    )
    price: float = Field(
        default=0.0, ge=0, description="US dollars for a million tokens, for the metric of cost."
    )
    cache_home: Path | None = Field(
        default=None,
        validation_alias="XDG_CACHE_HOME",
        description="Where caches live; default `.cache` in the home folder.",
    )
    workers: int | None = Field(
        default=None, ge=1, le=64, description="Cores for local bulk work; default: all."
    )
    cache_entries: int = Field(
        default=4096, ge=0, description="Vectors kept in memory for repeated texts; 0 for none."
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.chosen_provider == "openai":
            if self.api_key is None and self.base_url is None:
                raise ValueError("EMBEDDING_API_KEY or EMBEDDING_BASE_URL is needed for openai")
            return self
        model = LOCAL_MODELS.get(self.model or LOCAL_MODEL)
        if model is None or self.dimension not in (None, model.dimension):
            known = " and ".join(
                f"{one.name} ({one.dimension} values)" for one in LOCAL_MODELS.values()
            )
            raise ValueError(f"the local provider has the models {known}")
        return self

    @property
    def chosen_provider(self) -> Literal["local", "openai"]:
        """Returns the provider in force."""
        named = self.api_key is not None or self.base_url is not None
        return self.provider or ("openai" if named else "local")

    @property
    def models_folder(self) -> Path:
        """Returns the folder of converted models; a relative XDG_CACHE_HOME is ignored, as its standard requires."""
        home = self.cache_home
        if home is None or not home.is_absolute():
            home = Path.home() / ".cache"
        return home / "braid" / "models"
