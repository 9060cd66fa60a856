"""Metrics of the agent's model and tool calls: tokens, durations and outcomes, but no text."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from pydantic_ai import Agent, FunctionToolset
from pydantic_ai.models.test import TestModel

from services.agent_orchestrator.agent.language_models.throttled import (
    RetryTimeouts,
    ThrottledModel,
)
from services.agent_orchestrator.agent.recorded_tools import RecordedToolset
from services.models.language.limited_model import Limits
from services.models.throttle import Throttle
from services.models.usage import ModelUsage, Prices
from services.runtime.instruments import TOOL_DURATION, histogram

CANARY = "what the user asked"


def metrics_of(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data: Any = reader.get_metrics_data()
    metrics = data.resource_metrics[0].scope_metrics[0].metrics
    return {metric.name: list(metric.data.data_points) for metric in metrics}


@pytest.mark.parametrize("streamed", [False, True])
async def test_tokens_are_counted_for_plain_and_streamed_answers(*, streamed: bool) -> None:
    reader = InMemoryMetricReader()
    usage = ModelUsage(
        "language", "gpt", Prices(input=1.0), MeterProvider([reader]).get_meter("test")
    )
    timeouts = RetryTimeouts(retry=1.0, attempt=10.0)
    model = ThrottledModel(
        TestModel(custom_output_text="It is open."), Throttle(Limits()), timeouts, usage
    )
    agent = Agent(model)
    if streamed:
        async with agent.run_stream(CANARY) as answer:
            counted = answer.usage if await answer.get_output() else None
    else:
        counted = (await agent.run(CANARY)).usage
    assert counted is not None
    found = metrics_of(reader)
    tokens = {point.attributes["direction"]: point.value for point in found["braid.model.tokens"]}
    assert tokens == {"input": counted.input_tokens, "output": counted.output_tokens}
    [call] = found["braid.model.duration"]
    assert dict(call.attributes) == {"kind": "language", "model": "gpt", "outcome": "ok"}


async def test_a_tool_call_is_recorded_with_its_name_and_outcome() -> None:
    reader = InMemoryMetricReader()
    duration = histogram(TOOL_DURATION, MeterProvider([reader]).get_meter("test"))

    def look_up(text: str) -> str:
        if text:
            raise LookupError(CANARY)
        return "found"

    tools: Any = RecordedToolset(FunctionToolset([look_up]), duration)
    with pytest.raises(LookupError):
        await Agent(TestModel(), toolsets=[tools]).run(CANARY)
    [point] = metrics_of(reader)["braid.agent.tool.duration"]
    assert dict(point.attributes) == {"tool": "look_up", "outcome": "LookupError"}
