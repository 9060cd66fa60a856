"""Exports metrics and traces over OTLP and on `/metrics`, each if configured; otherwise nothing runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry import metrics, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased

from services.runtime.instruments import INSTRUMENTS

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.metrics.view import View
    from opentelemetry.sdk.resources import Resource

# An unavailable collector must not delay an export, or the process's end, for long.
_SECONDS = 3.0


class MetricsListenError(Exception):
    """The metrics cannot be served at the configured address."""


def set_up_export(
    endpoint: str | None, resource: Resource, metrics_listen: str | None = None
) -> int | None:
    """Sets the process's providers, once; returns the port of `/metrics`, None if it is not served.

    `endpoint` is a collector's gRPC address, `http://host:4317`; `metrics_listen` is `host:port` for Prometheus, port 0
    for a free one. Intervals, headers, certificates and the sampler are read from OpenTelemetry's own variables
    (`OTEL_METRIC_EXPORT_INTERVAL`, `OTEL_TRACES_SAMPLER`, …).
    """
    if endpoint is None:
        # Trace ids still appear in logs and in outgoing calls; spans are recorded only for a caller that records its
        # own.
        trace.set_tracer_provider(TracerProvider(sampler=ParentBased(ALWAYS_OFF)))
    else:
        _export_traces(endpoint, resource)
    readers = [_otlp_reader(endpoint)] if endpoint is not None else []
    port = None
    if metrics_listen is not None:
        reader, port = _serve_metrics(metrics_listen)
        readers.append(reader)
    if readers:
        # Imported here, so that a process that exports nothing does not load the library.
        from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415

        metrics.set_meter_provider(MeterProvider(readers, resource=resource, views=_views()))
    return port


def _export_traces(endpoint: str, resource: Resource) -> None:
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    tracers = TracerProvider(resource=resource)
    tracers.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, timeout=_SECONDS))
    )
    trace.set_tracer_provider(tracers)


def _otlp_reader(endpoint: str) -> MetricReader:
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (  # noqa: PLC0415
        OTLPMetricExporter,
    )
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415

    return PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=endpoint, timeout=_SECONDS))


def _serve_metrics(listen: str) -> tuple[MetricReader, int]:
    from opentelemetry.exporter.prometheus import PrometheusMetricReader  # noqa: PLC0415
    from prometheus_client import start_http_server  # noqa: PLC0415

    host, _, port = listen.rpartition(":")
    try:
        server, _thread = start_http_server(int(port), addr=host.strip("[]"))
    except (OSError, ValueError, OverflowError) as error:
        raise MetricsListenError(f"cannot serve metrics on {listen}: {error}") from None
    return PrometheusMetricReader(), server.server_port


def _views() -> list[View]:
    """Returns views that keep each metric's declared attributes only, so that the number of series stays bounded."""
    from opentelemetry.sdk.metrics.view import View  # noqa: PLC0415

    return [
        View(instrument_name=one.name, attribute_keys=set(one.attributes)) for one in INSTRUMENTS
    ]
