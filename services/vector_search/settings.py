"""Settings of the vector tier, read from the environment only when built."""

from __future__ import annotations

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class VectorSettings(BaseSettings):
    """Where the tier listens and how it reaches PostgreSQL."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    listen: str = Field(
        default="127.0.0.1:50051", validation_alias=AliasChoices("BRAID_VECTOR_LISTEN")
    )
    database_url: SecretStr = Field(
        validation_alias=AliasChoices("DATABASE_URL"), description="As role braid_writer."
    )
    read_database_url: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("BRAID_VECTOR_READ_DATABASE_URL"),
        description="As role braid_reader, on the primary. Default: the writer's.",
    )
    replica_database_urls: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("BRAID_VECTOR_REPLICA_DATABASE_URLS"),
        description="Streaming replicas that reads go round robin over, as role braid_reader, separated by commas.",
    )
    replica_max_lag_seconds: float = Field(
        default=10.0,
        gt=0,
        validation_alias=AliasChoices("BRAID_VECTOR_REPLICA_MAX_LAG_SECONDS"),
        description="A replica that is further behind is left out until it has caught up.",
    )
    migrate_database_url: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("BRAID_VECTOR_MIGRATE_DATABASE_URL"),
        description="As role braid_migrator, which owns the schema. Default: the writer's.",
    )
    pool_size: int = Field(
        default=10, ge=1, le=200, validation_alias=AliasChoices("BRAID_VECTOR_POOL_SIZE")
    )
    queue_size: int = Field(
        default=100,
        ge=0,
        validation_alias=AliasChoices("BRAID_VECTOR_QUEUE_SIZE"),
        description="Calls that may wait for a connection; one more is answered RESOURCE_EXHAUSTED.",
    )
    queue_seconds: float = Field(
        default=2.0,
        gt=0,
        validation_alias=AliasChoices("BRAID_VECTOR_QUEUE_SECONDS"),
        description="How long a call waits for a connection before it is answered RESOURCE_EXHAUSTED.",
    )
    statement_seconds: float = Field(
        default=30.0, gt=0, validation_alias=AliasChoices("BRAID_VECTOR_STATEMENT_SECONDS")
    )
    result_cache_mib: int = Field(
        default=32,
        ge=0,
        le=16_384,
        validation_alias=AliasChoices("BRAID_VECTOR_RESULT_CACHE_MIB"),
        description="Maximum memory for cached search results; 0 disables the cache.",
    )

    stored_embeddings: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        validation_alias=AliasChoices("BRAID_VECTOR_STORED_EMBEDDINGS"),
        description="Vectors of queries kept in PostgreSQL for each space; 0 for none. Worth it with a remote model.",
    )

    def reader(self) -> str:
        """Returns the connection string for searches."""
        return (self.read_database_url or self.database_url).get_secret_value()

    def replicas(self) -> tuple[str, ...]:
        """Returns the connection strings of replicas, in the order of the setting."""
        urls = self.replica_database_urls
        parts = urls.get_secret_value().split(",") if urls is not None else ()
        return tuple(part.strip() for part in parts if part.strip())

    def writer(self) -> str:
        """Returns the connection string for writes."""
        return self.database_url.get_secret_value()

    def migrator(self) -> str:
        """Returns the connection string for migrations."""
        return (self.migrate_database_url or self.database_url).get_secret_value()
