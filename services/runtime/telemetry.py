"""Structured logs, and trace ids in them. Logs hold neither secrets nor user text."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import structlog
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource

from services.runtime.context import current_call_or_none
from services.runtime.exporting import set_up_export

if TYPE_CHECKING:
    from structlog.typing import EventDict, FilteringBoundLogger, WrappedLogger

    from services.runtime.settings import RuntimeSettings


def configure_telemetry(settings: RuntimeSettings, service: str) -> None:
    """Sets up logs on standard error, traces and measures; once a process, before anything is served."""
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
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    set_up_export(settings.otlp_endpoint, Resource.create({"service.name": service}))


def get_logger(name: str) -> FilteringBoundLogger:
    """A logger that adds the call's request id and trace id to every line."""
    logger: FilteringBoundLogger = structlog.get_logger(room=name)
    return logger


def trace_id() -> str:
    """The current trace's id as 32 hexadecimal digits; empty outside of one."""
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else ""


def _add_call(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    call = current_call_or_none()
    if call is not None:
        event.setdefault("request_id", call.request_id)
        event.setdefault("space", call.space)
    traced = trace_id()
    if traced:
        event.setdefault("trace_id", traced)
    return event
