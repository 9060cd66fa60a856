"""Rate limits of keys and spaces: excess calls are refused with a retry delay, and other callers are served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from braid.agent.v1 import search_pb2
from services.runtime.channels import OutgoingMetadata
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import RateLimitedError
from services.runtime.identity import Identity
from services.runtime.limit_settings import LimitSettings, parse_rates
from services.runtime.rate_limits import RateLimits
from services.runtime.security.api_keys import hash_key
from services.runtime.settings import RuntimeSettings
from services.runtime.status import reason_name
from tests.unit.runtime.conftest import QUESTION, Harness, Start, refused

KEYS: dict[str, dict[str, Any]] = {
    "ann": {"space": "acme", "scopes": ["read"]},
    "bob": {"space": "acme", "scopes": ["read"]},
    "cat": {"space": "zoo", "scopes": ["read"]},
    "gateway": {"space": None, "scopes": ["read", "delegate"]},
}


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A file of keys, each of which has its name as its secret."""
    records = [{"id": name, "hash": hash_key(name), **record} for name, record in KEYS.items()]
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": records}))
    return path


def ask(harness: Harness, key: str, **more: str) -> Any:
    metadata = {"authorization": f"Bearer {key}", **more}
    return harness.search.ComprehensiveSearch(QUESTION, timeout=5, metadata=tuple(metadata.items()))


async def test_a_key_above_its_rate_gets_a_retry_delay_and_other_keys_are_served(
    start: Start, key_file: Path
) -> None:
    harness = await start(api_keys_file=key_file, rate_limit_per_key="2/hour")
    await ask(harness, "ann")
    await ask(harness, "ann")
    raw, error = await refused(ask(harness, "ann"))
    await ask(harness, "bob")
    assert (raw.code(), reason_name(error)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
    assert error.metadata["limit"] == "key"
    assert 0 < error.retry_after <= 3600
    assert len(harness.seen.calls) == 3


async def test_the_keys_of_a_space_share_its_rate(start: Start, key_file: Path) -> None:
    harness = await start(api_keys_file=key_file, rate_limit_per_space="2/hour")
    await ask(harness, "ann")
    await ask(harness, "bob")
    _, error = await refused(ask(harness, "ann"))
    await ask(harness, "cat")
    assert error.metadata["limit"] == "space"


async def test_calls_of_a_delegate_count_for_the_spaces_that_it_names(
    start: Start, key_file: Path
) -> None:
    harness = await start(
        api_keys_file=key_file, rate_limit_per_key="1/hour", rate_limit_per_space="1/hour"
    )
    await ask(harness, "gateway", **{"braid-space": "one"})
    await ask(harness, "gateway", **{"braid-space": "two"})
    _, error = await refused(ask(harness, "gateway", **{"braid-space": "one"}))
    assert error.metadata["limit"] == "space"


async def test_a_call_that_another_process_has_counted_is_not_counted_again(
    start: Start, key_file: Path
) -> None:
    harness = await start(api_keys_file=key_file, rate_limit_per_space="1/hour")
    settings = RuntimeSettings.model_validate({"service_key": "gateway"})
    with call_scope(CallContext("r", "/m", "acme", "ann", frozenset({"read"}))):
        metadata = OutgoingMetadata.of(settings).metadata()
    for _ in range(3):
        await harness.search.ComprehensiveSearch(QUESTION, timeout=5, metadata=metadata)
    assert len(harness.seen.calls) == 3


async def test_a_key_that_is_no_delegate_cannot_mark_its_calls_as_counted(
    start: Start, key_file: Path
) -> None:
    harness = await start(api_keys_file=key_file, rate_limit_per_key="1/hour")
    await ask(harness, "ann", **{"braid-admitted": "1"})
    _, error = await refused(ask(harness, "ann", **{"braid-admitted": "1"}))
    assert error.metadata["limit"] == "key"


async def test_a_stream_counts_as_one_call(start: Start, key_file: Path) -> None:
    harness = await start(api_keys_file=key_file, rate_limit_per_key="1/hour")
    request = search_pb2.StreamComprehensiveSearchRequest(search=QUESTION)
    metadata = (("authorization", "Bearer ann"),)
    parts = harness.search.StreamComprehensiveSearch(request, timeout=5, metadata=metadata)
    assert len([part async for part in parts]) == 2
    await refused(ask(harness, "ann"))


async def test_health_checks_are_not_rate_limited(start: Start) -> None:
    harness = await start(rate_limit_per_space="1/hour")
    health: Any = health_pb2_grpc.HealthStub(harness.channel)
    answers = [await health.Check(health_pb2.HealthCheckRequest(), timeout=5) for _ in range(5)]
    assert {answer.status for answer in answers} == {health_pb2.HealthCheckResponse.SERVING}


async def test_a_refusal_is_counted_once_by_its_kind_of_limit() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    rates = RateLimits(per_space="1/hour", meter=provider.get_meter("test"))
    caller = Identity(space="acme", user="ann", scopes=frozenset({"read"}))
    await rates.check(caller, {})
    with pytest.raises(RateLimitedError):
        await rates.check(caller, {})
    data: Any = reader.get_metrics_data()
    [point] = data.resource_metrics[0].scope_metrics[0].metrics[0].data.data_points
    assert (point.attributes, point.value) == ({"limit": "space"}, 1)
    provider.shutdown()


async def test_without_a_rate_no_call_is_refused(start: Start) -> None:
    harness = await start()
    for _ in range(5):
        await harness.search.ComprehensiveSearch(QUESTION, timeout=5)


def test_several_rates_are_read_from_one_setting() -> None:
    rates = [(rate.amount, rate.get_expiry()) for rate in parse_rates("50/second; 1000 per minute")]
    assert rates == [(50, 1), (1000, 60)]


def test_an_invalid_rate_is_refused_at_startup() -> None:
    with pytest.raises(ValueError, match="must be rates such as"):
        LimitSettings(rate_limit_per_key="fast")
