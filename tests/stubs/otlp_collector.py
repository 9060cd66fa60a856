"""An OTLP collector over gRPC on a free loopback port that records what it receives."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from opentelemetry.proto.collector.metrics.v1 import (
    metrics_service_pb2,
    metrics_service_pb2_grpc,
)
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


@dataclass(frozen=True)
class Span:
    """An exported span with its service; `text` is the whole span."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, str]
    failed: bool
    text: str


@dataclass
class Collector:
    """The data received so far; of each metric, by name, the last export."""

    endpoint: str = ""
    spans: list[Span] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    services: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)

    def trace(self, trace_id: str) -> list[Span]:
        """Returns the spans of a trace."""
        return [span for span in self.spans if span.trace_id == trace_id]


class _Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def Export(self, request: Any, context: Any) -> Any:
        self._collector.texts.append(str(request))
        for resource in request.resource_metrics:
            self._collector.services.add(_service(resource.resource))
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    self._collector.metrics[metric.name] = metric
        return metrics_service_pb2.ExportMetricsServiceResponse()


class _Traces(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def Export(self, request: Any, context: Any) -> Any:
        for resource in request.resource_spans:
            service = _service(resource.resource)
            for scope in resource.scope_spans:
                self._collector.spans += [_span(service, span) for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


def _service(resource: Any) -> str:
    names = [pair.value.string_value for pair in resource.attributes if pair.key == "service.name"]
    return names[0] if names else ""


def _span(service: str, span: Any) -> Span:
    attributes = {
        pair.key: str(getattr(pair.value, pair.value.WhichOneof("value")))
        for pair in span.attributes
    }
    return Span(
        service,
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        attributes,
        span.status.code == span.status.STATUS_CODE_ERROR,
        str(span),
    )


@contextmanager
def otlp_collector() -> Iterator[Collector]:
    """Runs a collector."""
    collector = Collector()
    server = grpc.server(ThreadPoolExecutor(4))
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(_Metrics(collector), server)  # type: ignore[no-untyped-call]
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(_Traces(collector), server)  # type: ignore[no-untyped-call]
    collector.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield collector
    finally:
        server.stop(None).wait()
