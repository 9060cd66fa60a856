"""Settings of the reranking model, read from the environment only when built."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.models.endpoints import Endpoint
from services.models.reranking.endpoint import RerankApi


class RerankerSettings(BaseSettings):
    """`RERANKER_*`; without an endpoint there is no reranking model, and no feature requires one."""

    model_config = SettingsConfigDict(
        env_prefix="RERANKER_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    base_url: Endpoint | None = Field(
        default=None, description="Any endpoint with `/rerank`, its version included."
    )
    api: RerankApi = Field(
        default="cohere",
        description="`cohere` (Cohere, Jina, vLLM) or `tei` (Hugging Face's Text Embeddings Inference).",
    )
    api_key: SecretStr | None = None
    model: str = "rerank-v3.5"
    seconds: float = Field(default=3.0, gt=0, le=60, description="For one answer.")
