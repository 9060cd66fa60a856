"""Spans are recorded only within a recorded span, and without the text of errors."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.runtime.tracing import root_span, separate_span, span

CANARY = "what the user asked"


def by_name(exported: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {one.name: one for one in exported.get_finished_spans()}


def test_outside_a_recorded_span_no_span_is_recorded(exported: InMemorySpanExporter) -> None:
    with span("leg vector") as current:
        assert not current.is_recording()
    assert exported.get_finished_spans() == ()


def test_a_span_is_a_child_of_the_span_around_it(exported: InMemorySpanExporter) -> None:
    with root_span("turn search"), span("postgresql add_job"), span("inner"):
        pass
    found = by_name(exported)
    parent = found["inner"].parent
    assert parent is not None
    assert parent.span_id == found["postgresql add_job"].context.span_id
    assert {one.context.trace_id for one in found.values()} == {
        found["turn search"].context.trace_id
    }


def test_a_separate_span_does_not_become_the_current_one(exported: InMemorySpanExporter) -> None:
    with root_span("turn search"), separate_span("language gpt"), span("inner"):
        pass
    found = by_name(exported)
    parents = {name: one.parent.span_id for name, one in found.items() if one.parent}
    root = found["turn search"].context.span_id
    assert parents == {"language gpt": root, "inner": root}


def test_a_failed_span_has_the_type_of_its_error_but_not_its_text(
    exported: InMemorySpanExporter,
) -> None:
    with pytest.raises(ValueError, match=CANARY), root_span("turn"), span("leg"):
        raise ValueError(CANARY)
    for one in exported.get_finished_spans():
        assert not one.status.is_ok
        assert one.attributes == {"error.type": "ValueError"}
        assert CANARY not in one.to_json()
