"""Settings that every process has, read from the environment when built and at no other time."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.runtime.admission import AdmissionLimits


class RuntimeSettings(BaseSettings):
    """`BRAID_*` settings of the server bootstrap; each service adds its own beside them."""

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
    api_keys_file: Path | None = Field(
        default=None, description="JSON file of hashed API keys; read again when it changes."
    )
    allow_local: bool = Field(
        default=True, description="On loopback, callers without a credential are space `local`."
    )
    service_key: SecretStr | None = Field(
        default=None,
        description="Key with the `delegate` scope that this process presents to others.",
    )
    drain_seconds: float = Field(
        default=5.0, ge=0, le=300, description="How long running calls may go on after SIGTERM."
    )
    max_message_bytes: int = Field(
        default=16 * 1024 * 1024, ge=64 * 1024, description="Largest gRPC message taken or sent."
    )
    max_concurrent_calls: int = Field(
        default=256,
        ge=1,
        description="Calls served at once, searches excepted; one more is answered RESOURCE_EXHAUSTED.",
    )
    search_concurrency: int = Field(
        default=16, ge=1, description="Searches that a process runs at once; others wait."
    )
    search_queue_seconds: float = Field(
        default=0.2,
        ge=0,
        le=60,
        description="How long a search waits to be run before it is answered RESOURCE_EXHAUSTED.",
    )

    def search_limits(self) -> AdmissionLimits:
        """What bounds the searches of a process. Waiting costs little: callers that come back at once cost more."""
        return AdmissionLimits(
            size=self.search_concurrency,
            queue_size=2 * self.max_concurrent_calls,
            queue_seconds=self.search_queue_seconds,
            retry_seconds=1.0,
        )
