"""Calls are counted and timed by method and code."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.runtime.errors import OverloadedError
from services.runtime.interceptors.call_outcome import MetricsStage
from services.runtime.interceptors.stage import Call


def points(reader: InMemoryMetricReader) -> list[Any]:
    data: Any = reader.get_metrics_data()
    [metric] = data.resource_metrics[0].scope_metrics[0].metrics
    assert (metric.name, metric.unit) == ("rpc.server.duration", "s")
    return list(metric.data.data_points)


def test_calls_are_counted_by_method_and_code_with_millisecond_buckets() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    stage = MetricsStage(provider.get_meter("test"))
    call = Call(method="/a.B/C", metadata={}, deadline=None)
    for _ in range(2):
        with stage.around(call):
            pass
    with pytest.raises(OverloadedError), stage.around(call):
        raise OverloadedError(1.0)
    by_code = {point.attributes["rpc.code"]: point for point in points(reader)}
    assert {code: point.count for code, point in by_code.items()} == {
        "OK": 2,
        "RESOURCE_EXHAUSTED": 1,
    }
    assert by_code["OK"].attributes["rpc.method"] == "/a.B/C"
    assert by_code["OK"].explicit_bounds[0] == 0.001
    provider.shutdown()
