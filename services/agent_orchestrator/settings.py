"""Settings of the orchestrator, read from the environment when built and at no other time."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

MIB = 1024 * 1024


class AgentSettings(BaseSettings):
    """Where the orchestrator listens, which tiers it calls, and its limits. Times are in seconds."""

    model_config = SettingsConfigDict(
        env_prefix="BRAID_AGENT_",
        env_file=".env",
        extra="ignore",
        env_ignore_empty=True,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    listen: str = "127.0.0.1:50050"
    vector_target: str = Field(default="127.0.0.1:50051", validation_alias="BRAID_VECTOR_TARGET")
    graph_target: str = Field(default="127.0.0.1:50052", validation_alias="BRAID_GRAPH_TARGET")
    database_url: SecretStr | None = Field(
        default=None, description="The orchestrator's own database, for durable jobs."
    )

    search_seconds: float = Field(
        default=10.0, gt=0, description="A search's deadline when its caller sets none or a later."
    )
    query_embedding_seconds: float = Field(
        default=2.0, gt=0, description="How long a search waits for its query's vector at most."
    )
    query_embeddings_at_once: int = Field(default=4, ge=1)

    max_upload_bytes: int = Field(default=64 * MIB, ge=1, description="Largest upload taken.")
    max_waiting_jobs: int = Field(default=1000, ge=1, description="Jobs that wait or run.")
    max_waiting_bytes: int = Field(default=256 * MIB, ge=1, description="Uploads held by them.")
    max_ended_jobs: int = Field(default=1000, ge=1, description="Ended jobs still told about.")
    jobs_at_once: int = Field(default=2, ge=1, description="Spaces whose jobs run side by side.")

    read_seconds: float = Field(default=10.0, gt=0, description="Limit of a tier's read.")
    write_seconds: float = Field(default=60.0, gt=0, description="Limit of a tier's batch write.")
    retry_seconds: float = Field(
        default=120.0,
        ge=0,
        description="How long a job retries a tier or an embedder that is away.",
    )
