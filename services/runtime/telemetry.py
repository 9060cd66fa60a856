"""Structured logs, with trace ids. Logs contain neither secrets nor user text."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import TYPE_CHECKING, Protocol

import structlog
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource

from services.runtime.context import current_call_or_none
from services.runtime.metrics_export import MetricsListenError, set_up_export
from services.runtime.version import VERSION

if TYPE_CHECKING:
    from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

# The maximum length of a library's log message.
_MESSAGE_CHARACTERS = 300


class TelemetrySettings(Protocol):
    """Where logs, traces and metrics go: a part of a process's settings."""

    @property
    def log_level(self) -> str: ...
    @property
    def log_format(self) -> str: ...
    @property
    def otlp_endpoint(self) -> str | None: ...
    @property
    def metrics_listen(self) -> str | None: ...


def configure_telemetry(settings: TelemetrySettings, service: str) -> None:
    """Sets up logs on standard error, traces and metrics; once per process, before serving.

    Raises SystemExit if metrics cannot be served as configured.
    """
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    renderer = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_call,
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, handlers=[_handler(renderer)])
    resource = Resource.create({"service.name": service, "service.version": VERSION})
    try:
        port = set_up_export(settings.otlp_endpoint, resource, settings.metrics_listen)
    except MetricsListenError as error:
        raise SystemExit(str(error)) from None
    if port is not None:
        get_logger("telemetry").info("metrics", listen=settings.metrics_listen, port=port)


def get_logger(name: str) -> FilteringBoundLogger:
    """Returns a logger that adds the call's request id and trace id to every line."""
    logger: FilteringBoundLogger = structlog.get_logger(room=name)
    return logger


def trace_id() -> str:
    """Returns the current trace's id as 32 hexadecimal digits; "" outside of a trace."""
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else ""


def _handler(renderer: Processor) -> logging.Handler:
    """Returns a handler that formats libraries' records (asyncio, asyncpg, grpc, neo4j …) like Braid's own lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                _add_call,
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _without_values,
                renderer,
            ],
        )
    )
    return handler


def _without_values(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Removes the text of errors from a library's log record: drivers repeat users' texts in it.

    Only the first line of the message is kept, as asyncio adds the failed task with its error in further lines.
    """
    event["event"] = str(event["event"]).partition("\n")[0][:_MESSAGE_CHARACTERS]
    kind, _error, places = event.pop("exc_info", None) or (None, None, None)
    if kind is not None:
        event["error"] = kind.__name__
        event["exception"] = "".join(traceback.format_tb(places))
    return event


def _add_call(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    call = current_call_or_none()
    if call is not None:
        event.setdefault("request_id", call.request_id)
        event.setdefault("space", call.space)
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event.setdefault("trace_id", f"{context.trace_id:032x}")
        event.setdefault("span_id", f"{context.span_id:016x}")
    return event
