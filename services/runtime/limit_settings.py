"""Load limits: settings of rates, concurrency, sizes and times, read from the environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from limits import RateLimitItem, parse_many
from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode

from braid_protocol.channel import methods
from services.runtime.admission import AdmissionLimits


def parse_rates(text: str) -> Sequence[RateLimitItem]:
    """Parses limits such as `50/second;1000/minute`; empty text means none. Raises ValueError for anything else."""
    return parse_many(text) if text.strip() else ()


class LimitSettings(BaseSettings):
    """Limits of a process. A call beyond one of them fails with RESOURCE_EXHAUSTED and the time to wait."""

    max_message_bytes: int = Field(
        default=16 * 1024 * 1024, ge=64 * 1024, description="Largest gRPC message taken or sent."
    )
    max_concurrent_calls: int = Field(
        default=512,
        ge=1,
        description="Calls of a process at once, those that wait included, searches excepted.",
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
    read_concurrency: int = Field(
        default=64, ge=1, description="Calls at once of each RPC that only reads."
    )
    write_concurrency: int = Field(
        default=64, ge=1, description="Calls at once of each RPC that changes something."
    )
    stream_concurrency: int = Field(
        default=128, ge=1, description="Calls at once of each RPC that streams."
    )
    rpc_concurrency: Annotated[dict[str, int], NoDecode] = Field(
        default_factory=dict,
        description="The same for single RPCs: `braid.agent.v1.AgentService/Ask=32,…`.",
    )
    rpc_queue_seconds: float = Field(
        default=2.0,
        ge=0,
        le=60,
        description="How long a call that is no search waits for its turn; as many wait as run.",
    )
    rate_limit_per_key: str = Field(
        default="", description="Calls of an API key, such as `50/second;1000/minute`."
    )
    rate_limit_per_space: str = Field(default="", description="The same for all calls of a space.")
    default_deadline_seconds: float = Field(
        default=120.0, gt=0, le=3600, description="Deadline of a unary call that brings none."
    )
    default_stream_deadline_seconds: float = Field(
        default=3600.0, gt=0, le=86_400, description="The same for calls that stream."
    )
    handshake_seconds: float = Field(
        default=10.0, gt=0, le=120, description="A new connection that sends nothing is closed."
    )
    connection_idle_seconds: float = Field(
        default=600.0, gt=0, description="A gRPC connection without calls is closed."
    )
    connection_age_seconds: float = Field(
        default=300.0,
        gt=0,
        description="A gRPC connection is replaced after so long, so that clients find new replicas.",
    )
    drain_seconds: float = Field(
        default=5.0, ge=0, le=300, description="How long running calls may go on after SIGTERM."
    )
    drain_delay_seconds: float = Field(
        default=0.5,
        ge=0,
        le=60,
        description="How long new calls are still taken after SIGTERM, while clients and probes see NOT_SERVING.",
    )

    @field_validator("rpc_concurrency", mode="before")
    @classmethod
    def _read_pairs(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        known = {f"{method.containing_service.full_name}/{method.name}" for method in methods()}
        pairs = {}
        for part in filter(None, (part.strip() for part in given.split(","))):
            name, _, number = part.partition("=")
            if name not in known or not number.isdecimal() or int(number) < 1:
                raise ValueError(
                    "must be pairs of an RPC and a number from 1, `package.Service/Method=8,…`"
                )
            pairs[name] = int(number)
        return pairs

    @field_validator("rate_limit_per_key", "rate_limit_per_space")
    @classmethod
    def _check_rate(cls, given: str) -> str:
        try:
            parse_rates(given)
        except ValueError:
            raise ValueError("must be rates such as `50/second;1000/minute`") from None
        return given

    def search_limits(self) -> AdmissionLimits:
        """Returns the limits of concurrent searches. Waiting is cheap: callers that return immediately cost more."""
        return AdmissionLimits(
            size=self.search_concurrency,
            queue_size=2 * self.max_concurrent_calls,
            queue_seconds=self.search_queue_seconds,
            retry_seconds=1.0,
            adaptive=True,
        )
