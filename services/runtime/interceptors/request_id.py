"""Gives each call its request id, from the caller or new, and continues the caller's trace."""

from __future__ import annotations

import re
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from opentelemetry import context as trace_context
from opentelemetry import propagate, trace

from services.runtime.interceptors.stage import Call, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

# A request id goes into logs and answers: anything else than this could forge lines in them.
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class RequestIdStage(Stage):
    """First of all stages, so that every later one can name the call."""

    name: ClassVar[str] = "request_id"

    def __init__(self) -> None:
        self._tracer = trace.get_tracer("braid")

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        given = call.metadata.get("x-request-id", "")
        call.request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        parent = propagate.extract(call.metadata)
        span = self._tracer.start_span(
            call.method.lstrip("/"), context=parent, kind=trace.SpanKind.SERVER
        )
        # Never detached: an RPC has a task, and so a context, of its own.
        trace_context.attach(trace.set_span_in_context(span, parent))
        try:
            yield
        finally:
            span.end()
