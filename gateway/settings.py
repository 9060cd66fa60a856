"""Settings of the gateway, read from the environment when built and at no other time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from services.runtime.settings import RuntimeSettings

MIB = 1024 * 1024
_ORIGIN: Final = re.compile(r"https?://[^/\s*,]{1,255}")


class GatewaySettings(RuntimeSettings):
    """`BRAID_*` settings of the gateway, in addition to those of every process."""

    gateway_listen: str = Field(default="127.0.0.1:8080", description="Where HTTP is served.")
    gateway_tls_cert_file: Path | None = Field(
        default=None, description="The gateway's certificate chain: it then serves HTTPS alone."
    )
    gateway_tls_key_file: Path | None = Field(default=None, description="Its private key.")
    gateway_tls_client_ca_file: Path | None = Field(
        default=None,
        description="Authorities of HTTP clients: they then need a certificate (mutual TLS).",
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Origins of web pages that may call the gateway: `https://app.example,http://localhost:3000`. "
        "They need a key like every caller.",
    )
    agent_target: str = Field(default="127.0.0.1:50050", description="The orchestrator.")
    vector_target: str = Field(default="127.0.0.1:50051", description="The vector tier.")
    graph_target: str = Field(default="127.0.0.1:50052", description="The graph tier.")
    timeout_seconds: float = Field(
        default=10.0, gt=0, le=600, description="A request's time when `X-Timeout-Ms` sets none."
    )
    upload_timeout_seconds: float = Field(
        default=120.0, gt=0, le=3600, description="The same for uploads of documents and facts."
    )
    chat_timeout_seconds: float = Field(
        default=180.0, gt=0, le=3600, description="The same for questions to the agent."
    )
    watch_seconds: float = Field(
        default=3600.0, gt=0, description="How long a job may be watched in one request."
    )
    heartbeat_seconds: float = Field(
        default=5.0, gt=0, description="Longest silence of an event stream."
    )
    body_idle_seconds: float = Field(
        default=30.0, gt=0, description="Longest silence of a client before its body's end."
    )
    max_body_bytes: int = Field(
        default=MIB,
        ge=1024,
        description="Largest body of a request that is no upload, and what may stand beside a long document's text.",
    )
    max_document_bytes: int = Field(
        default=64 * MIB, ge=1024, description="Largest body of an upload of documents."
    )
    max_facts_bytes: int = Field(
        default=16 * MIB, ge=1024, description="Largest body of an upload of facts."
    )
    max_connections: int = Field(
        default=8192,
        ge=1,
        description="Open HTTP connections; beyond them a new one takes the place of an idle one.",
    )
    mcp_profile: Literal["default", "all"] = Field(
        default="default",
        description="Tools at /mcp where the address names no `profile`: at most eight, or each on its own.",
    )
    mcp_read_only: bool = Field(
        default=False,
        description="Whether /mcp offers only tools that read, whatever the key may do.",
    )

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _read_origins(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        origins = tuple(filter(None, (part.strip().rstrip("/") for part in given.split(","))))
        if not all(_ORIGIN.fullmatch(one) for one in origins):
            raise ValueError("must be origins such as `https://app.example`, separated by commas")
        return origins

    @model_validator(mode="after")
    def _complete_certificate(self) -> Self:
        if (self.gateway_tls_cert_file is None) is not (self.gateway_tls_key_file is None):
            raise ValueError(
                "BRAID_GATEWAY_TLS_CERT_FILE and BRAID_GATEWAY_TLS_KEY_FILE go together"
            )
        if self.gateway_tls_client_ca_file is not None and self.gateway_tls_cert_file is None:
            raise ValueError("BRAID_GATEWAY_TLS_CLIENT_CA_FILE needs BRAID_GATEWAY_TLS_CERT_FILE")
        return self
