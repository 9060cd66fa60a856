"""Settings shared by all processes, read from the environment only when built."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.runtime.limit_settings import LimitSettings
from services.runtime.security.settings import SecuritySettings


class RuntimeSettings(LimitSettings, SecuritySettings):
    """`BRAID_*` settings of the server bootstrap; each service adds its own."""

    model_config = SettingsConfigDict(
        env_prefix="BRAID_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
    otlp_endpoint: str | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="Collector for measures and traces over gRPC, `http://host:4317`; none by default.",
    )
    metrics_listen: str | None = Field(
        default=None,
        description="Where `/metrics` is served for Prometheus, host:port without a credential; nowhere by default.",
    )
    api_keys_file: Path | None = Field(
        default=None, description="JSON file of hashed API keys; read again when it changes."
    )
    api_keys_max_stale_seconds: float = Field(
        default=300.0,
        gt=0,
        description="How long known keys are accepted while their file cannot be read.",
    )
    allow_local: bool | None = Field(
        default=None,
        description="Whether callers on loopback need no credential. By default only while neither keys nor tokens are "
        "configured.",
    )
    process_key_prefix: str = Field(
        default="",
        description="Set by the local stack: while all ids in its key file begin with this, they are keys of its own "
        "processes, and callers on loopback need no credential.",
    )
    service_key: SecretStr | None = Field(
        default=None,
        description="Key with the `delegate` scope that this process presents to others.",
    )

    idempotency_hours: float = Field(
        default=24.0,
        gt=0,
        le=24 * 30,
        description="How long the responses of calls with an idempotency key are kept.",
    )

    @property
    def exports_metrics(self) -> bool:
        """Returns whether this process exports metrics."""
        return self.otlp_endpoint is not None or self.metrics_listen is not None

    @property
    def authenticated(self) -> bool:
        """Returns whether callers can present a credential: an API key or a token."""
        return self.api_keys_file is not None or self.tokens_accepted
