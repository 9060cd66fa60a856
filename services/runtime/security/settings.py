"""Settings of credentials and transport security, shared by all processes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode

from services.runtime.listen import is_loopback

ASYMMETRIC_ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)

Words = Annotated[tuple[str, ...], NoDecode]


class SecuritySettings(BaseSettings):
    """`BRAID_JWT_*`: accepted token issuers, in addition to API keys. `BRAID_TLS_*`: certificates of this process."""

    jwt_jwks: str | None = Field(
        default=None, description="The issuer's JWKS: an https address or a file. None: no tokens."
    )
    jwt_issuer: str | None = Field(default=None, description="What a token's `iss` must be.")
    jwt_audience: Words = Field(
        default=(), description="What a token's `aud` must have one of, separated by commas."
    )
    jwt_algorithms: Words = Field(
        default=("RS256", "ES256"),
        description="Signature algorithms that are accepted: asymmetric ones, separated by commas.",
    )
    jwt_leeway_seconds: float = Field(
        default=30.0, ge=0, le=600, description="How far clocks may differ."
    )
    jwt_space_claim: str = Field(default="braid_space", min_length=1)
    jwt_user_claim: str = Field(default="sub", min_length=1)
    jwt_scopes_claim: str = Field(
        default="scope", min_length=1, description="Scopes as words or as a list."
    )
    jwt_scope_prefix: str = Field(
        default="braid:",
        min_length=1,
        description="What stands before a scope in a token, such as `braid:read`. Scopes without it do not count.",
    )
    jwt_ca_file: Path | None = Field(
        default=None, description="Authorities of the JWKS endpoint. Default: the system's."
    )
    jwt_refresh_seconds: float = Field(
        default=300.0, gt=0, description="How long a fetched key set is used without another look."
    )
    jwt_refetch_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Shortest time between two fetches for a key that is not in the set.",
    )
    jwt_max_stale_seconds: float = Field(
        default=86_400.0,
        gt=0,
        description="How long known keys serve while the key set cannot be fetched.",
    )

    tls_cert_file: Path | None = Field(
        default=None,
        description="This process's certificate chain: gRPC is then served with TLS alone, and calls present it.",
    )
    tls_key_file: Path | None = Field(default=None, description="Its private key.")
    tls_ca_file: Path | None = Field(
        default=None,
        description="Authorities of Braid's other processes: calls to them then use TLS alone.",
    )
    tls_client_ca_file: Path | None = Field(
        default=None,
        description="Authorities of callers: gRPC callers then need a certificate (mutual TLS).",
    )
    tls_server_name: str | None = Field(
        default=None,
        description="The name in the other processes' certificates, where it is not their address.",
    )

    @field_validator("jwt_audience", "jwt_algorithms", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(word.strip() for word in value.split(",") if word.strip())
        return value

    @field_validator("jwt_algorithms")
    @classmethod
    def _asymmetric(cls, algorithms: tuple[str, ...]) -> tuple[str, ...]:
        if not algorithms or not ASYMMETRIC_ALGORITHMS.issuperset(algorithms):
            known = ", ".join(sorted(ASYMMETRIC_ALGORITHMS))
            raise ValueError(f"must be one or more of {known}")
        return algorithms

    @field_validator("jwt_jwks")
    @classmethod
    def _fetched_safely(cls, source: str | None) -> str | None:
        # An attacker who can change the answer in transit could sign tokens.
        if source is not None and "://" in source:
            url = urlsplit(source)
            loopback = url.scheme == "http" and is_loopback(f"{url.hostname or ''}:0")
            if url.scheme != "https" and not loopback:
                raise ValueError("must be an https address, http on loopback, or a file")
        return source

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.jwt_jwks is not None and not (self.jwt_issuer and self.jwt_audience):
            raise ValueError("BRAID_JWT_JWKS needs BRAID_JWT_ISSUER and BRAID_JWT_AUDIENCE")
        if (self.tls_cert_file is None) is not (self.tls_key_file is None):
            raise ValueError("BRAID_TLS_CERT_FILE and BRAID_TLS_KEY_FILE go together")
        if self.tls_client_ca_file is not None and self.tls_cert_file is None:
            raise ValueError("BRAID_TLS_CLIENT_CA_FILE needs BRAID_TLS_CERT_FILE")
        return self

    @property
    def tokens_accepted(self) -> bool:
        """Returns whether callers may present tokens."""
        return self.jwt_jwks is not None
