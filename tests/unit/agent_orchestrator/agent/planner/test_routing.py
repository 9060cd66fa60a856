"""Questions and the tool calls that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol
from zoneinfo import ZoneInfo

import pytest

from services.agent_orchestrator.agent.planner.entity_recognition import (
    KnownEntity,
    capitalised_names,
)
from services.agent_orchestrator.agent.planner.follow_up import Turn
from services.agent_orchestrator.agent.planner.planner import LocalPlanner
from services.agent_orchestrator.agent.planner.question import Clock, question_parts
from services.agent_orchestrator.agent.planner.routing import ToolCall
from services.agent_orchestrator.agent.planner.tool_choice import ChooseTool
from tests.evals.question_files import question_rows
from tests.evals.routing.measure import OWN, TOOLS, is_right

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), ZoneInfo("UTC"))
KNOWN = (
    KnownEntity("Payments Service", "Service"),
    KnownEntity("Ledger Service", "Service"),
    KnownEntity("Ada Lovelace", "Person"),
    KnownEntity("INC-104", "Incident"),
)


async def link(text: str) -> Sequence[KnownEntity]:
    return [entity for entity in KNOWN if entity.name.casefold() in text.casefold()]


class Calls(Protocol):
    """Returns the calls that a question leads to after earlier turns."""

    async def __call__(
        self, question: str, *before: Turn, tools: Sequence[str] = TOOLS
    ) -> list[ToolCall]: ...


@pytest.fixture
def calls(choose: ChooseTool) -> Calls:
    async def plan(question: str, *before: Turn, tools: Sequence[str] = TOOLS) -> list[ToolCall]:
        return await LocalPlanner(link, CLOCK, choose).plan(question, tools, before)

    return plan


@pytest.mark.parametrize("row", question_rows(None, OWN), ids=lambda row: row["id"])
async def test_labeled_questions_lead_to_the_expected_tools(
    calls: Calls, row: dict[str, list[str]]
) -> None:
    called = [call.tool for call in await calls(str(row["question"]))]
    assert is_right(called, row["tools"], row["avoid"])


async def test_a_question_about_a_relationship_is_searched_with_its_entity(calls: Calls) -> None:
    (call,) = await calls("Could you tell me who owns the payments service?")
    assert call == ToolCall(
        "search_knowledge_graph",
        {"query": "who owns the payments service?", "entity_name": "Payments Service"},
    )


async def test_as_of_a_period_means_the_last_instant_of_the_period(calls: Calls) -> None:
    (call,) = await calls("Who owned the Payments Service as of March 2024?")
    assert call.arguments == {
        "reference_time": "2024-03-31T23:59:59.999999+00:00",
        "entity": "Payments Service",
    }


async def test_a_period_becomes_a_time_range(calls: Calls) -> None:
    (call,) = await calls("Who owned the Payments Service in January 2024?")
    assert call.tool == "get_snapshot"
    assert call.arguments["reference_time"] == "2024-01-01T00:00:00+00:00"
    assert call.arguments["reference_end"] == "2024-02-01T00:00:00+00:00"


async def test_since_limits_the_start_of_a_history(calls: Calls) -> None:
    (call,) = await calls("How has the owner of the Ledger Service changed since 2024?")
    assert call == ToolCall(
        "get_entity_history", {"entity": "Ledger Service", "since": "2024-01-01T00:00:00+00:00"}
    )


async def test_two_times_become_a_diff_and_an_end_of_now_is_omitted(calls: Calls) -> None:
    (call,) = await calls("What changed between January and June 2024?")
    assert call.arguments == {
        "before": "2024-01-01T00:00:00+00:00",
        "after": "2024-06-30T23:59:59.999999+00:00",
    }
    (call,) = await calls("What has changed since January?")
    assert call.arguments == {"before": "2026-01-01T00:00:00+00:00"}


async def test_two_parts_become_two_calls_and_it_refers_to_the_entity_of_the_first(
    calls: Calls,
) -> None:
    then, now = await calls("Who owned the Payments Service in 2023, and who owns it now?")
    assert (then.tool, now.tool) == ("get_snapshot", "search_knowledge_graph")
    assert now.arguments["entity_name"] == "Payments Service"


async def test_a_named_event_sets_the_time_and_is_not_the_topic(calls: Calls) -> None:
    (call,) = await calls("Who owned the Ledger Service when INC-104 began?")
    assert call == ToolCall("get_entity_history", {"entity": "Ledger Service"})


@pytest.mark.parametrize(
    ("follow_up", "tool", "entity"),
    [
        ("and who owns it now?", "search_knowledge_graph", "Payments Service"),
        ("What are its dependencies?", "search_knowledge_graph", "Payments Service"),
        ("and in 2023?", "get_snapshot", "Payments Service"),
        ("What about the Ledger Service?", "search_knowledge_graph", "Ledger Service"),
        ("and how has that changed?", "get_entity_history", "Payments Service"),
    ],
)
async def test_follow_ups_refer_to_the_last_named_entity(
    calls: Calls, follow_up: str, tool: str, entity: str
) -> None:
    (call,) = await calls(follow_up, Turn("Who owns the Payments Service?", "Ada Lovelace."))
    assert call.tool == tool
    assert entity in (call.arguments.get("entity_name"), call.arguments.get("entity"))


async def test_a_personal_pronoun_refers_to_the_person_in_the_answer(calls: Calls) -> None:
    (call,) = await calls(
        "What else does she own?", Turn("Who owns the Payments Service?", "Ada Lovelace owns it.")
    )
    assert call.arguments["entity_name"] == "Ada Lovelace"


async def test_a_profile_without_the_tool_uses_the_closest_one(calls: Calls) -> None:
    (call,) = await calls(
        "Who owned the Payments Service as of March 2024?", tools=["graph_search", "hybrid_search"]
    )
    assert call.tool == "graph_search"
    assert call.arguments["entity_name"] == "Payments Service"
    assert call.arguments["reference_time"] == "2024-03-31T23:59:59.999999+00:00"


async def test_a_question_in_another_language_is_searched_unchanged(calls: Calls) -> None:
    question = "Wer leitet das Team, und seit wann?"
    assert await calls(question) == [ToolCall("comprehensive_search", {"query": question})]


@pytest.mark.parametrize(
    "question", ["When is lunch?", "Where is Bob?", "Is anybody home?", "How was the weekend?"]
)
async def test_a_short_question_is_looked_up(calls: Calls, question: str) -> None:
    assert await calls(question)


@pytest.mark.parametrize("text", ["Why not?", "Could you help?", "How nice!", "Are you there?"])
async def test_what_asks_about_nothing_or_the_assistant_is_not_looked_up(
    calls: Calls, text: str
) -> None:
    assert await calls(text) == []


async def test_findings_are_filtered_by_the_conditions_in_the_question(calls: Calls) -> None:
    (call,) = await calls("Which findings about the Ledger Service have confidence above 80 %?")
    assert call.tool == "search_findings"
    assert call.arguments["min_confidence"] == 0.8
    assert call.arguments["about_entity"] == "Ledger Service"


async def test_a_relation_type_is_passed_as_written(calls: Calls) -> None:
    (call,) = await calls("List DEPENDS_ON relationships of the Payments Service")
    assert call.arguments["relationship_type"] == "DEPENDS_ON"


def test_names_are_recognized_by_capital_letters_and_codes() -> None:
    text = "Compare what INC-2024 and the Search Service have to do with Ada Lovelace in March"
    assert [entity.name for entity in capitalised_names(text)] == [
        "INC-2024",
        "Search Service",
        "Ada Lovelace",
    ]


def test_polite_phrases_are_removed_from_a_question() -> None:
    assert question_parts("Hi! Could you please tell me who owns it? Thanks!") == [
        "Hi!",
        "who owns it?",
        "Thanks!",
    ]
