"""Spans within a call: work of a store, a model, a leg or a tool. Names and attributes never contain a user's text.

Only the type of an error is recorded, as its message may repeat a user's text.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import context as trace_context
from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Attributes = Mapping[str, str | int | float | bool]

_TRACER = "braid"


@contextmanager
def span(name: str, attributes: Attributes | None = None) -> Iterator[trace.Span]:
    """Opens a span within the current one; without a recorded trace it does nothing and costs nothing."""
    with separate_span(name, attributes) as made:
        if not made.is_recording():
            yield made
            return
        token = trace_context.attach(trace.set_span_in_context(made))
        try:
            yield made
        finally:
            trace_context.detach(token)


@contextmanager
def separate_span(name: str, attributes: Attributes | None = None) -> Iterator[trace.Span]:
    """Opens a span without making it the current one: for streamed work, perhaps in another task."""
    if not trace.get_current_span().is_recording():
        yield trace.INVALID_SPAN
        return
    with _ending(_start(name, attributes)) as made:
        yield made


@contextmanager
def root_span(name: str, attributes: Attributes | None = None) -> Iterator[trace.Span]:
    """Opens a trace of its own, for work that no current call has requested."""
    made = _start(name, attributes)
    token = trace_context.attach(trace.set_span_in_context(made))
    try:
        with _ending(made):
            yield made
    finally:
        trace_context.detach(token)


def fail(made: trace.Span, error_type: str) -> None:
    """Marks a span as failed, with the type of its error."""
    if made.is_recording():
        made.set_status(Status(StatusCode.ERROR))
        made.set_attribute("error.type", error_type)


def _start(name: str, attributes: Attributes | None) -> trace.Span:
    return trace.get_tracer(_TRACER).start_span(name, attributes=attributes)


@contextmanager
def _ending(made: trace.Span) -> Iterator[trace.Span]:
    try:
        yield made
    except BaseException as error:
        fail(made, type(error).__name__)
        raise
    finally:
        made.end()
