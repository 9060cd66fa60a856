"""Settings of the graph tier, read from the environment when built and at no other time."""

from __future__ import annotations

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class GraphSettings(BaseSettings):
    """Where the tier listens and how it reaches Neo4j."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    listen: str = Field(
        default="127.0.0.1:50052", validation_alias=AliasChoices("BRAID_GRAPH_LISTEN")
    )
    neo4j_uri: str = Field(
        default="bolt://127.0.0.1:7687", validation_alias=AliasChoices("NEO4J_URI")
    )
    neo4j_user: str = Field(default="neo4j", validation_alias=AliasChoices("NEO4J_USER"))
    neo4j_password: SecretStr = Field(validation_alias=AliasChoices("NEO4J_PASSWORD"))
    pool_size: int = Field(
        default=10, ge=1, le=200, validation_alias=AliasChoices("BRAID_GRAPH_POOL_SIZE")
    )
    queue_size: int = Field(
        default=100,
        ge=0,
        validation_alias=AliasChoices("BRAID_GRAPH_QUEUE_SIZE"),
        description="Calls that may wait for a connection; one more is answered RESOURCE_EXHAUSTED.",
    )
    queue_seconds: float = Field(
        default=5.0,
        gt=0,
        validation_alias=AliasChoices("BRAID_GRAPH_QUEUE_SECONDS"),
        description="How long a call waits for a connection before it is answered RESOURCE_EXHAUSTED.",
    )
