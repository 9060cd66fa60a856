"""A span for each call, within the caller's trace, with the call's outcome."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from opentelemetry import context as trace_context
from opentelemetry import propagate, trace

from services.runtime.interceptors.call_outcome import CallOutcome, record_outcome
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.tracing import fail

if TYPE_CHECKING:
    from collections.abc import Iterator


class TraceStage(Stage):
    """Runs before the log stage, whose lines name the trace."""

    name: ClassVar[str] = "trace"

    def __init__(self) -> None:
        # Created once, as creating one costs more than the span that it starts.
        self._tracer = trace.get_tracer("braid")

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        parent = propagate.extract(call.metadata)
        span = self._tracer.start_span(
            call.method.lstrip("/"),
            context=parent,
            kind=trace.SpanKind.SERVER,
            attributes={"rpc.system": "grpc", "braid.request_id": call.request_id},
        )
        # Never detached: an RPC has its own task, and so its own context.
        trace_context.attach(trace.set_span_in_context(span, parent))
        try:
            with record_outcome(lambda outcome: _record(span, call, outcome)):
                yield
        finally:
            span.end()


def _record(span: trace.Span, call: Call, outcome: CallOutcome) -> None:
    if not span.is_recording():
        return
    span.set_attribute("rpc.code", outcome.code)
    if call.identity is not None:
        span.set_attribute("braid.space", call.identity.space)
    if outcome.code != "OK":
        fail(span, outcome.reason or outcome.code)
