"""Counts, timings and traces to a collector over OTLP, where one is named; otherwise nothing runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry import metrics, trace
from opentelemetry.sdk.trace import TracerProvider

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

# A collector that is away must hold up neither an export nor the process's end for long.
_SECONDS = 3.0

# Searches take milliseconds, uploads seconds.
DURATION_BUCKETS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1.0, 2.0, 5.0, 10.0, 30.0, 120.0),
)
"""Bounds in seconds for histograms of durations."""


def set_up_export(endpoint: str | None, resource: Resource) -> None:
    """Sets the process's providers, once. `endpoint` is a collector's gRPC address, `http://host:4317`; None for none.

    Intervals, headers and certificates are those of OpenTelemetry's own variables (`OTEL_METRIC_EXPORT_INTERVAL`, …).
    """
    tracers = TracerProvider(resource=resource)
    trace.set_tracer_provider(tracers)
    if endpoint is not None:
        _export(endpoint, resource, tracers)


def _export(endpoint: str, resource: Resource, tracers: TracerProvider) -> None:
    # Here, so that a process that exports nothing never pays for the libraries.
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (  # noqa: PLC0415
        OTLPMetricExporter,
    )
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    tracers.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, timeout=_SECONDS))
    )
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=endpoint, timeout=_SECONDS))
    metrics.set_meter_provider(MeterProvider([reader], resource=resource))
