"""The agent's memory tools: a saved statement is found in the same conversation, and only by its user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic_ai import ModelRetry

from services.agent_orchestrator.agent.results import ToolResult
from services.agent_orchestrator.entity_memory.records import Owner
from services.agent_orchestrator.entity_memory.tools import NOTHING_KNOWN, SAVED, MemoryTools
from services.runtime.context import CallContext, call_scope
from tests.integration.entity_memory.conftest import ALICE, ANNA, World, run_of


@pytest.fixture
def tools(world: World) -> Iterator[MemoryTools]:
    """The memory tools, within the scope of an agent call."""
    scopes = frozenset({"read", "write"})
    with call_scope(CallContext("request", "Ask", "acme", "alice", scopes)):
        yield MemoryTools(world.parts.memory, world.parts.writes)


def result_of(answer: Any) -> ToolResult:
    found = ToolResult.from_metadata(answer.metadata)
    assert found is not None
    return found


async def test_a_saved_relationship_is_found_with_its_source(tools: MemoryTools) -> None:
    saved = await tools.save_relationship(
        run_of(), "USES", "Grafana", target_type="tool", context="I use Grafana for monitoring"
    )
    found = result_of(await tools.query_graph(run_of(), "What do I use for monitoring?"))
    assert result_of(saved).message == SAVED
    assert [item.text for item in found.items] == ["You use Grafana."]
    (said,) = found.items[0].citations
    assert (said.source, said.chunk_id) == ("conversation c1", "run-1")
    assert said.quote == "I use Grafana for monitoring"


async def test_a_repeated_tool_call_saves_once(tools: MemoryTools, world: World) -> None:
    for _ in range(2):
        await tools.save_entity(run_of(), "Kafka", "tool", "a broker", ["kfk"])
    result_of(await tools.query_graph(run_of(), "What do I know?"))
    assert await world.names("kfk") == ["Kafka"]
    page = await world.parts.memory.query(Owner("acme", "alice"), "Kafka", (), 0, 5)
    assert page.hits[0].entity.mention_count == 1


async def test_a_relationship_can_name_its_source_by_id(tools: MemoryTools, world: World) -> None:
    id_ = (await world.save_entity("Atlas", "PROJECT")).entity.id
    await tools.save_relationship(run_of(), "USES", "Kafka", source=id_, target_type="tool")
    found = result_of(await tools.query_graph(run_of(), "What does Atlas use?"))
    assert [item.text for item in found.items] == ["Atlas uses Kafka."]


async def test_another_users_memory_and_ids_are_unknown(tools: MemoryTools, world: World) -> None:
    id_ = (await world.save_entity("Nightingale", "PROJECT")).entity.id
    await world.relate("WORKS_ON", "Nightingale")
    with pytest.raises(ModelRetry):
        await tools.save_relationship(run_of("anna"), "WORKS_ON", id_)
    found = result_of(await tools.query_graph(run_of("anna"), "What do I work on?"))
    assert (found.status, found.message) == ("no_match", NOTHING_KNOWN)
    assert await world.names(who=ANNA) == []
    assert await world.names(who=ALICE) == ["Nightingale"]


async def test_a_reached_limit_is_explained_in_the_answer(tools: MemoryTools) -> None:
    for number in range(20):
        await tools.save_entity(run_of(call=f"call-{number}"), f"Tool {number}", "tool")
    result_of(await tools.query_graph(run_of(), "What do I use?"))
    refused = result_of(await tools.save_entity(run_of(call="call-x"), "Another", "tool"))
    assert refused.message.startswith("Nothing was saved: this conversation has reached its limit")


async def test_a_relationship_of_an_entity_with_itself_is_returned_to_the_model(
    tools: MemoryTools,
) -> None:
    with pytest.raises(ModelRetry):
        await tools.save_relationship(run_of(), "USES", "Vim", source="vim")
