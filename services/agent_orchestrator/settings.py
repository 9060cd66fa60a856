"""Settings of the orchestrator, read from the environment only when they are built."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

MIB = 1024 * 1024


class SettingError(Exception):
    """A required setting is missing; the message names it."""


class AgentSettings(BaseSettings):
    """The orchestrator's addresses, tiers and limits. Times are in seconds."""

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
    database_url: SecretStr = Field(
        default=SecretStr(""),
        description="The orchestrator's own database: jobs and what they hold.",
    )
    migrate_database_url: SecretStr | None = Field(
        default=None,
        description="As role braid_agent_migrator, which owns the schema. Default: `database_url`.",
    )
    pool_size: int = Field(default=10, ge=3, le=200)
    queue_size: int = Field(
        default=100, ge=0, description="Calls that may wait for a connection; one more is refused."
    )
    queue_seconds: float = Field(
        default=2.0,
        gt=0,
        description="How long a call waits for a connection before it is refused.",
    )
    statement_seconds: float = Field(default=30.0, gt=0)

    search_seconds: float = Field(
        default=10.0, gt=0, description="A search's deadline when its caller sets none or a later."
    )
    leg_seconds: float = Field(
        default=2.0,
        gt=0,
        description="A leg's budget within it, its query's vector included; the leg is TIMED_OUT then.",
    )
    rerank: Literal["none", "local", "cross_encoder", "language_model"] = Field(
        default="none",
        description="How searches are reranked whose callers do not say: local is the local model, cross_encoder "
        "needs RERANKER_BASE_URL, language_model the configured language model.",
    )
    expansion_seconds: float = Field(
        default=1.0,
        gt=0,
        description="An expansion's budget within the search's; the list stays unexpanded after it.",
    )
    query_embedding_seconds: float = Field(
        default=2.0,
        gt=0,
        description="How long a search waits for its query's vector, within half of a leg's budget.",
    )
    query_embeddings_at_once: int = Field(default=4, ge=1)

    max_upload_bytes: int = Field(default=64 * MIB, ge=1, description="Largest upload taken.")
    max_waiting_jobs: int = Field(
        default=10_000,
        ge=1,
        description="Jobs that wait or run. A space has at most 4 for each that is free, or one.",
    )
    max_waiting_bytes: int = Field(
        default=1024 * MIB, ge=1, description="Uploads held by them, shared out likewise."
    )
    keep_ended_days: int = Field(default=30, ge=1, description="How long ended jobs are kept.")

    worker_listen: str = Field(
        default="127.0.0.1:50053", description="Where a worker answers for its health."
    )
    lease_seconds: float = Field(
        default=10.0,
        gt=0,
        description="A worker that does not renew its leases for so long loses its turns.",
    )
    jobs_at_once: int = Field(
        default=2, ge=1, description="Spaces that a worker reads and embeds in parallel."
    )
    graphs_at_once: int = Field(
        default=4, ge=1, description="Spaces that a worker adds to the graph in parallel."
    )
    turn_seconds: float = Field(
        default=5.0, gt=0, description="How long a space is worked on while others wait."
    )

    read_seconds: float = Field(default=10.0, gt=0, description="Limit of a tier's read.")
    write_seconds: float = Field(default=60.0, gt=0, description="Limit of a tier's batch write.")
    retry_seconds: float = Field(
        default=5.0,
        ge=0,
        description="How long a turn retries a tier or an embedder that is unavailable; then other turns go first.",
    )

    def database(self) -> str:
        """Returns the connection string of the service."""
        return self._named(self.database_url)

    def migrator(self) -> str:
        """Returns the connection string for migrations."""
        return self._named(self.migrate_database_url or self.database_url)

    @staticmethod
    def _named(url: SecretStr) -> str:
        text = url.get_secret_value()
        if not text:
            raise SettingError("BRAID_AGENT_DATABASE_URL is needed: where jobs are kept")
        return text
