"""Settings of the graph tier, read from the environment only when built."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import AliasChoices, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.runtime.security.certificates import Certificates


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
    neo4j_ca_file: Path | None = Field(
        default=None,
        validation_alias=AliasChoices("NEO4J_CA_FILE"),
        description="Authorities of Neo4j's certificate, which is then required. Default: the system's, with bolt+s://.",
    )
    neo4j_client_cert_file: Path | None = Field(
        default=None,
        validation_alias=AliasChoices("NEO4J_CLIENT_CERT_FILE"),
        description="The certificate that Neo4j is shown.",
    )
    neo4j_client_key_file: Path | None = Field(
        default=None, validation_alias=AliasChoices("NEO4J_CLIENT_KEY_FILE")
    )
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

    @model_validator(mode="after")
    def _complete_certificate(self) -> Self:
        if (self.neo4j_client_cert_file is None) is not (self.neo4j_client_key_file is None):
            raise ValueError("NEO4J_CLIENT_CERT_FILE and NEO4J_CLIENT_KEY_FILE go together")
        return self

    def neo4j_certificates(self) -> Certificates | None:
        """Returns the certificates for TLS to Neo4j; None if only the address determines whether TLS is used."""
        if self.neo4j_ca_file is None and self.neo4j_client_cert_file is None:
            return None
        return Certificates(
            chain=self.neo4j_client_cert_file,
            key=self.neo4j_client_key_file,
            authorities=self.neo4j_ca_file,
        )
