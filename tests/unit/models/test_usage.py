"""Tokens and their cost are counted per space; calls are timed by model and outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.models.language.limited_model import LimitedModel, Limits, ProviderFailed
from services.models.language.model import Completion, Message, Prompt, Role
from services.models.usage import ModelUsage, Prices
from services.runtime.context import CallContext, call_scope

ALICE = CallContext("1", "m", "alice", "", frozenset())
BOB = CallContext("2", "m", "bob", "", frozenset())


@pytest.fixture
def reader() -> InMemoryMetricReader:
    return InMemoryMetricReader()


@pytest.fixture
def usage(reader: InMemoryMetricReader) -> ModelUsage:
    meter = MeterProvider([reader]).get_meter("test")
    return ModelUsage("language", "gpt", Prices(input=2.0, output=10.0), meter)


def points(reader: InMemoryMetricReader, name: str) -> list[tuple[dict[str, Any], Any]]:
    data: Any = reader.get_metrics_data()
    metrics = data.resource_metrics[0].scope_metrics[0].metrics
    [metric] = [one for one in metrics if one.name == name]
    return [(dict(point.attributes), point) for point in metric.data.data_points]


def test_tokens_and_cost_are_counted_per_space(
    reader: InMemoryMetricReader, usage: ModelUsage
) -> None:
    with call_scope(ALICE):
        usage.count(1_000_000, 500_000)
    with call_scope(BOB):
        usage.count(1_500_000)
    tokens = {
        (known["space"], known["direction"]): point.value
        for known, point in points(reader, "braid.model.tokens")
    }
    assert tokens == {
        ("alice", "input"): 1_000_000,
        ("alice", "output"): 500_000,
        ("bob", "input"): 1_500_000,
    }
    cost = {known["space"]: point.value for known, point in points(reader, "braid.model.cost")}
    assert cost == {"alice": 7.0, "bob": 3.0}


class Provider:
    """A provider whose answer or failure is determined by the test."""

    def __init__(self, ask: Callable[[], Completion]) -> None:
        self._ask = ask

    async def ask(self, prompt: Prompt) -> Completion:
        return self._ask()

    async def close(self) -> None:
        return


async def test_tokens_of_a_language_model_are_counted_as_reported_by_the_provider(
    reader: InMemoryMetricReader, usage: ModelUsage
) -> None:
    model = LimitedModel(
        "gpt", lambda: Provider(lambda: Completion("yes", 30, 2)), Limits(), usage=usage
    )
    with call_scope(ALICE):
        await model.complete(Prompt([Message(Role.USER, "who owns it?")]))
    await model.close()
    tokens = {known["direction"]: p.value for known, p in points(reader, "braid.model.tokens")}
    assert tokens == {"input": 30, "output": 2}
    [(known, point)] = points(reader, "braid.model.duration")
    assert known == {"kind": "language", "model": "gpt", "outcome": "ok"}
    assert point.count == 1


async def test_a_failed_call_has_the_type_of_its_error_as_outcome(
    reader: InMemoryMetricReader, usage: ModelUsage
) -> None:
    def fail() -> Completion:
        raise ProviderFailed("no", passing=False, broken=True)

    model = LimitedModel("gpt", lambda: Provider(fail), Limits(), usage=usage)
    with pytest.raises(Exception, match="no"), call_scope(ALICE):
        await model.complete(Prompt([Message(Role.USER, "who owns it?")]))
    await model.close()
    [(known, _)] = points(reader, "braid.model.duration")
    assert known["outcome"].startswith("LanguageModelUnavailable")
