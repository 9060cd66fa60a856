"""Metrics are declared once, and their attributes have few values."""

from __future__ import annotations

import re

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.instruments import INSTRUMENTS, Bounded, Kind
from services.runtime.queue_metrics import observe_queues

# The number of spaces is unlimited; `Bounded` limits the values of the attribute.
WITH_A_SPACE = {"braid.model.tokens", "braid.model.cost"}


def test_each_metric_has_a_unique_name_and_a_description() -> None:
    names = [one.name for one in INSTRUMENTS]
    assert len(names) == len(set(names)) > 20
    for one in INSTRUMENTS:
        assert re.fullmatch(r"[a-z]+(\.[a-z_]+)+", one.name)
        assert one.description.endswith(".")
        assert (one.unit == "s") or one.kind is not Kind.HISTOGRAM


def test_only_token_and_cost_metrics_have_the_space_as_an_attribute() -> None:
    assert {one.name for one in INSTRUMENTS if "space" in one.attributes} == WITH_A_SPACE


def test_values_beyond_the_limit_are_counted_together() -> None:
    spaces = Bounded(limit=2)
    assert [spaces.of(name) for name in "abcab"] == ["a", "b", "other", "a", "b"]


async def test_methods_that_share_a_queue_are_observed_once() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    shared, own = (
        AdmissionQueue(AdmissionLimits(size=2, queue_size=3)),
        AdmissionQueue(AdmissionLimits(size=1, queue_size=0)),
    )
    observe_queues({"/b.B/Y": shared, "/a.A/X": shared, "/c.C/Z": own}, provider.get_meter("test"))
    async with shared.slot():
        data = reader.get_metrics_data()
    assert data is not None
    found = {
        (metric.name, point.attributes["queue"]): point.value  # type: ignore[union-attr,index]
        for metric in data.resource_metrics[0].scope_metrics[0].metrics
        for point in metric.data.data_points
    }
    assert found == {
        ("braid.admission.active", "/a.A/X"): 1,
        ("braid.admission.active", "/c.C/Z"): 0,
        ("braid.admission.waiting", "/a.A/X"): 0,
        ("braid.admission.waiting", "/c.C/Z"): 0,
        ("braid.admission.capacity", "/a.A/X"): 5,
        ("braid.admission.capacity", "/c.C/Z"): 1,
    }
    provider.shutdown()
