"""Measures and traces reach a collector where one is named; otherwise nothing of it is even loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.metrics.v1 import (
    metrics_service_pb2,
    metrics_service_pb2_grpc,
)
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

PROCESS = """
import sys
from opentelemetry import metrics, trace
from services.runtime.settings import RuntimeSettings
from services.runtime.telemetry import configure_telemetry

early = metrics.get_meter("braid").create_counter("braid.early")
configure_telemetry(RuntimeSettings(_env_file=None), "vector_search")
early.add(1)
metrics.get_meter("braid").create_counter("braid.late").add(3)
trace.get_tracer("braid").start_span("looked").end()
print(any(name.startswith("opentelemetry.exporter") for name in sys.modules))
"""


@dataclass
class Collector:
    """What an OTLP collector was sent."""

    endpoint: str = ""
    counted: dict[str, int] = field(default_factory=dict)
    spans: list[str] = field(default_factory=list)
    services: set[str] = field(default_factory=set)

    def note(self, resource: Any) -> None:
        self.services |= {
            pair.value.string_value for pair in resource.attributes if pair.key == "service.name"
        }


class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def Export(self, request: Any, context: Any) -> Any:
        for resource in request.resource_metrics:
            self._collector.note(resource.resource)
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    [point] = metric.sum.data_points
                    self._collector.counted[metric.name] = point.as_int
        return metrics_service_pb2.ExportMetricsServiceResponse()


class Traces(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def Export(self, request: Any, context: Any) -> Any:
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self._collector.spans += [span.name for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector on a free port."""
    collector = Collector()
    server = grpc.server(ThreadPoolExecutor(2))
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(collector), server)  # type: ignore[no-untyped-call]
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(collector), server)  # type: ignore[no-untyped-call]
    collector.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield collector
    server.stop(None).wait()


def run(endpoint: str) -> str:
    """A process that counts and traces a little, and ends; what it printed."""
    environment = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
    ended = subprocess.run(
        [sys.executable, "-c", PROCESS],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return ended.stdout.strip()


def test_a_named_collector_is_told_of_counts_and_traces(collector: Collector) -> None:
    assert run(collector.endpoint) == "True"
    assert collector.counted == {"braid.early": 1, "braid.late": 3}
    assert collector.spans == ["looked"]
    assert collector.services == {"vector_search"}


def test_without_one_nothing_is_loaded_or_sent() -> None:
    assert run("") == "False"


def test_a_collector_that_is_away_does_not_keep_a_process_from_ending() -> None:
    started = time.monotonic()
    run("http://127.0.0.1:9")
    assert time.monotonic() - started < 20
