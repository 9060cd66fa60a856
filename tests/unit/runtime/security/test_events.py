"""Security events are logged with their name and counted."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from structlog.testing import capture_logs

from services.runtime.security import events
from services.runtime.security.events import SecurityEvents


def counted(reader: InMemoryMetricReader) -> dict[str, float]:
    """Returns the counter's values by their attributes as JSON."""
    data = json.loads(reader.get_metrics_data().to_json())  # type: ignore[union-attr]
    (metric,) = data["resource_metrics"][0]["scope_metrics"][0]["metrics"]
    assert metric["name"] == "braid.security.events"
    return {
        json.dumps(point["attributes"], sort_keys=True): point["value"]
        for point in metric["data"]["data_points"]
    }


def test_an_event_is_logged_with_its_name_and_counted_by_reason() -> None:
    reader = InMemoryMetricReader()
    security = SecurityEvents(MeterProvider([reader]).get_meter("test"))
    with capture_logs() as lines:
        for key_id in ("a", "b"):
            security.record(events.CREDENTIAL_REFUSED, reason="expired", key_id=key_id)
        security.record(events.KEY_REVOKED, key_id="a")
    assert [(line["event"], line["log_level"], line["key_id"]) for line in lines] == [
        ("credential_refused", "warning", "a"),
        ("credential_refused", "warning", "b"),
        ("key_revoked", "info", "a"),
    ]
    assert counted(reader) == {
        '{"event": "credential_refused", "reason": "expired"}': 2,
        '{"event": "key_revoked"}': 1,
    }


@pytest.fixture(autouse=True)
def _fresh_loggers() -> Iterator[None]:
    configured = structlog.get_config()
    structlog.reset_defaults()
    yield
    structlog.configure(**configured)
