"""The agent's memory tools: a saved statement is found in the same conversation, and only by its user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic_ai import ModelRetry

from services.agent_orchestrator.agent.results import ToolResult
from services.agent_orchestrator.agent.tools.entity_memory import NOTHING_KNOWN, SAVED, MemoryTools
from services.agent_orchestrator.entity_memory.records import Owner
from services.runtime.context import CallContext, call_scope
from tests.integration.entity_memory.conftest import ALICE, ANNA, World, no_messages, run_of


@pytest.fixture
def tools(world: World) -> Iterator[MemoryTools]:
    """The memory tools, within the scope of an agent call."""
    scopes = frozenset({"read", "write"})
    with call_scope(CallContext("request", "Ask", "acme", "alice", scopes)):
        yield MemoryTools(world.parts.memory, world.parts.writes, no_messages)


def result_of(answer: Any) -> ToolResult:
    found = ToolResult.from_metadata(answer.metadata)
    assert found is not None
    return found


async def test_a_saved_relationship_is_found_with_its_source(tools: MemoryTools) -> None:
    saved = await tools.save_relationship(
        run_of(said="Hello. I use Grafana for monitoring."),
        "USES",
        "Grafana",
        target_type="tool",
        context="I use Grafana for monitoring",
    )
    found = result_of(await tools.query_graph(run_of(), "What do I use for monitoring?"))
    assert result_of(saved).message == SAVED
    assert [item.text for item in found.items] == ["You use Grafana."]
    (said,) = found.items[0].citations
    assert (said.source, said.chunk_id) == ("conversation c1", "run-1")
    assert said.quote == "I use Grafana for monitoring"


async def test_a_repeated_tool_call_saves_once(tools: MemoryTools, world: World) -> None:
    for _ in range(2):
        run = run_of(said="We have Kafka (kfk), a broker.")
        await tools.save_entity(run, "Kafka", "tool", "a broker", ["kfk"])
    result_of(await tools.query_graph(run_of(), "What do I know?"))
    assert await world.names("kfk") == ["Kafka"]
    page = await world.parts.memory.query(Owner("acme", "alice"), "Kafka", (), 0, 5)
    assert page.hits[0].entity.mention_count == 1


async def test_a_relationship_can_name_its_source_by_id(tools: MemoryTools, world: World) -> None:
    id_ = (await world.save_entity("Atlas", "PROJECT")).entity.id
    run = run_of(said="Atlas runs on Kafka.")
    await tools.save_relationship(run, "USES", "Kafka", source=id_, target_type="tool")
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
        run = run_of(call=f"call-{number}", said=f"There is a Tool {number}.")
        await tools.save_entity(run, f"Tool {number}", "tool")
    result_of(await tools.query_graph(run_of(), "What do I use?"))
    run = run_of(call="call-x", said="Another one.")
    refused = result_of(await tools.save_entity(run, "Another", "tool"))
    assert refused.message.startswith("Nothing was saved: this conversation has reached its limit")


async def test_a_relationship_of_an_entity_with_itself_is_returned_to_the_model(
    tools: MemoryTools,
) -> None:
    with pytest.raises(ModelRetry):
        await tools.save_relationship(run_of(), "USES", "Vim", source="vim")


@pytest.mark.parametrize(
    ("said", "read", "name"),
    [
        pytest.param("What is new?", [], "EvilCorp", id="a name that the user did not write"),
        pytest.param("What about EvilCorporation?", [], "EvilCorp", id="a part of a word"),
        pytest.param("", [], "EvilCorp", id="no message"),
        pytest.param(
            "What is EvilCorp?", ["hybrid_search"], "EvilCorp", id="after results of a search"
        ),
    ],
)
async def test_only_what_stands_in_the_users_message_is_saved(
    tools: MemoryTools, world: World, said: str, read: list[str], name: str
) -> None:
    run = run_of(said=said, read=read)
    entity = result_of(await tools.save_entity(run, name, "tool"))
    relationship = result_of(await tools.save_relationship(run, "USES", name, target_type="tool"))
    assert entity.status == relationship.status == "no_match"
    assert entity.message.startswith("Nothing was changed")
    assert await world.names() == []


async def test_evidence_that_the_user_did_not_write_is_refused(
    tools: MemoryTools, world: World
) -> None:
    run = run_of(said="What is EvilCorp?")
    result = await tools.save_relationship(run, "USES", "EvilCorp", context="I use EvilCorp")
    assert result_of(result).message.startswith("Nothing was changed")
    assert await world.names() == []


async def test_letter_case_white_space_and_punctuation_do_not_matter(
    tools: MemoryTools, world: World
) -> None:
    run = run_of(said="i use\n  APACHE   kafka, mostly", read=["query_graph"])
    saved = await tools.save_relationship(
        run, "USES", "Apache Kafka", target_type="tool", context="I use Apache Kafka mostly."
    )
    assert result_of(saved).message == SAVED
    result_of(await tools.query_graph(run, "What do I use?"))
    assert await world.names("kafka") == ["Apache Kafka"]


async def test_a_description_and_aliases_that_the_user_did_not_write_are_left_out(
    tools: MemoryTools, world: World
) -> None:
    run = run_of(said="Kafka is a broker.")
    await tools.save_entity(run, "Kafka", "tool", "a tool of EvilCorp", ["EvilBroker"])
    result_of(await tools.query_graph(run, "What do I use?"))
    page = await world.parts.memory.query(Owner("acme", "alice"), "Kafka", (), 0, 5)
    assert (page.hits[0].entity.description, page.hits[0].entity.aliases) == ("", ())


async def test_an_existing_entity_named_by_id_must_stand_in_the_message(
    tools: MemoryTools, world: World
) -> None:
    id_ = (await world.save_entity("Nightingale", "PROJECT")).entity.id
    refused = await tools.save_relationship(run_of(said="Hello."), "WORKS_ON", id_)
    assert result_of(refused).status == "no_match"
    saved = await tools.save_relationship(run_of(said="I work on Nightingale."), "WORKS_ON", id_)
    assert result_of(saved).message == SAVED


async def test_a_caller_that_may_only_read_saves_nothing(tools: MemoryTools, world: World) -> None:
    run = run_of(said="I use Kafka.", may_save=False)
    refused = await tools.save_relationship(run, "USES", "Kafka", target_type="tool")
    assert result_of(refused).status == "no_match"
    assert await world.names() == []


async def test_only_what_the_user_names_is_forgotten(tools: MemoryTools, world: World) -> None:
    await world.relate("USES", "Grafana")
    run = run_of(said="What do I use?")
    refused = await tools.forget(run, "Grafana")
    assert result_of(refused).message.startswith("Nothing was changed")
    asked = await tools.forget(run_of(said="Forget that I use Grafana"), "that I use Grafana")
    assert result_of(asked).message == "Forgotten: “You use Grafana”."
