"""Answers composed from tool results: quotes, citations, dates, and the reply if nothing answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from services.agent_orchestrator.agent.planner.answers import (
    INTRODUCTION,
    NOTHING_ANSWERS,
    AnsweredPart,
    compose,
    nothing_to_look_up,
)
from services.agent_orchestrator.agent.planner.draft import Draft
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.question import Clock, read_question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.results import Candidate, Citation, ResultItem, ToolResult

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), ZoneInfo("UTC"))
RUNBOOK = (
    "The Ledger Service keeps the books. When it stops, the on-call engineer restarts it within ten minutes. "
    "Backups are taken each night and are kept for ninety days."
)


def day(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def passage(text: str, title: str = "Runbook", score: float = 0.6) -> ResultItem:
    cited = Citation(f"{title}.md", title, "wiki", f"chunk-{title}", 100, 100 + len(text), text)
    return ResultItem("passage", text, score, citations=(cited,))


def owns(
    person: str,
    since: str | None,
    until: str | None = None,
    thing: str = "Ledger Service",
    **more: Any,
) -> ResultItem:
    text = f"{person} owns the {thing}."
    cited = Citation(
        f"{person}.md", f"Note on {person}", "wiki", f"chunk-{person}", 0, len(text), text
    )
    item = ResultItem(
        "fact", text, 0.5, person, "OWNS", thing, day(since), day(until), citations=(cited,)
    )
    return replace(item, **more)


def tool_result(tool: str, *items: ResultItem, **more: Any) -> ToolResult:
    return replace(ToolResult(tool, "ok", "acme", items=items, total_count=len(items)), **more)


async def answer(
    reading: Reading,
    question: str,
    *results: ToolResult,
    names: Sequence[str] = ("Ledger Service",),
    introduce: bool = False,
) -> Draft:
    asked = read_question(question, [KnownEntity(name) for name in names], CLOCK)
    return await compose([AnsweredPart(asked, results)], reading, introduce=introduce)


async def test_a_current_fact_is_quoted_with_its_date_source_and_citation_number(
    reading: Reading,
) -> None:
    draft = await answer(
        reading,
        "Who owns the Ledger Service?",
        tool_result("search_knowledge_graph", owns("Ada", "2025-03-01")),
    )
    assert (
        draft.text == "Ada owns the Ledger Service (since 1 March 2025). [1] (Note on Ada · wiki)"
    )
    assert draft.cited[0].citations[0].document_id == "Ada.md"


async def test_facts_of_another_relation_or_direction_are_left_out(reading: Reading) -> None:
    uses = owns("Ada", None, relation="USES", text="The Ledger Service uses PostgreSQL.")
    other = owns(
        "Bo",
        None,
        subject="Ledger Service",
        object="Archive",
        text="The Ledger Service owns the Archive.",
    )
    draft = await answer(
        reading,
        "Who owns the Ledger Service?",
        tool_result("search_knowledge_graph", uses, other, owns("Ada", "2025-03-01")),
    )
    assert "PostgreSQL" not in draft.text
    assert "Archive" not in draft.text


async def test_contradictory_sources_are_both_quoted_with_their_dates(reading: Reading) -> None:
    draft = await answer(
        reading,
        "Who owns the Ledger Service?",
        tool_result("search_knowledge_graph", owns("Ada", "2025-03-01"), owns("Bo", "2025-06-01")),
    )
    assert draft.text.splitlines()[0] == "The sources name more than one:"
    assert "since 1 March 2025" in draft.text
    assert "since 1 June 2025" in draft.text


async def test_a_past_state_is_introduced_by_its_time_and_marked_as_ended(reading: Reading) -> None:
    draft = await answer(
        reading,
        "Who owned the Ledger Service in January 2024?",
        tool_result(
            "get_snapshot",
            owns("Ada", "2023-02-01", "2024-06-10", kind="state"),
            as_of=day("2024-01-01"),
            as_of_end=day("2024-02-01"),
        ),
    )
    assert draft.text.splitlines()[0] == "As of 1 January 2024 to 31 January 2024:"
    assert "(ended: from 1 February 2023 until 10 June 2024)" in draft.text


async def test_past_and_present_parts_are_separate_paragraphs(reading: Reading) -> None:
    then = read_question(
        "Who owned the Ledger Service in 2023?", [KnownEntity("Ledger Service")], CLOCK
    )
    now = read_question("who owns Ledger Service now?", [KnownEntity("Ledger Service")], CLOCK)
    draft = await compose(
        [
            AnsweredPart(
                then,
                (
                    tool_result(
                        "get_snapshot",
                        owns("Ada", "2023-02-01", "2024-06-10", kind="state"),
                        as_of=day("2023-01-01"),
                    ),
                ),
            ),
            AnsweredPart(now, (tool_result("search_knowledge_graph", owns("Bo", "2024-06-10")),)),
        ],
        reading,
        introduce=False,
    )
    first, second = draft.paragraphs
    assert "Ada" in first
    assert "Bo" in second


async def test_a_history_is_in_chronological_order(reading: Reading) -> None:
    draft = await answer(
        reading,
        "How has ownership of the Ledger Service changed?",
        tool_result(
            "get_entity_history",
            owns("Bo", "2024-06-10"),
            owns("Ada", "2023-02-01", "2024-06-10"),
            summary="Ledger Service: 2 facts.",
        ),
    )
    assert draft.text.splitlines()[0] == "Ledger Service: 2 facts."
    assert draft.text.index("Ada") < draft.text.index("Bo")


async def test_only_facts_that_held_at_the_time_of_the_named_event_are_quoted(
    reading: Reading,
) -> None:
    event = owns(
        "Ledger Service",
        "2024-04-18",
        relation="CAUSED",
        object="INC-104",
        is_event=True,
        text="The Ledger Service caused INC-104.",
    )
    draft = await answer(
        reading,
        "Who owned the Ledger Service when INC-104 began?",
        tool_result(
            "get_entity_history",
            owns("Ada", "2023-02-01", "2024-06-10"),
            event,
            owns("Bo", "2024-06-10"),
        ),
        names=("Ledger Service", "INC-104"),
    )
    assert "Ada" in draft.text
    assert "Bo" not in draft.text


async def test_a_long_history_states_the_total_number_of_facts(reading: Reading) -> None:
    facts = [
        owns(f"Person{number}", f"20{number + 10}-01-01", f"20{number + 11}-01-01")
        for number in range(15)
    ]
    draft = await answer(
        reading,
        "Show me the history of the Ledger Service",
        tool_result(
            "get_entity_history", *facts, entity="Ledger Service", total_count=40, next_page="token"
        ),
    )
    assert "These are 12 of 40 facts." in draft.text


async def test_changes_are_labeled_as_new_or_ended(reading: Reading) -> None:
    draft = await answer(
        reading,
        "What changed between 2023 and 2025?",
        tool_result(
            "diff_graph",
            owns("Bo", "2024-06-10", kind="change", change="added"),
            owns("Ada", "2023-02-01", "2024-06-10", kind="change", change="ended"),
            as_of=day("2023-01-01"),
            as_of_end=day("2026-01-01"),
        ),
        names=(),
    )
    assert draft.text.splitlines()[0] == "Changes from 1 January 2023 to 31 December 2025:"
    assert "New: Bo" in draft.text
    assert "Ended: Ada" in draft.text


async def test_an_answering_sentence_is_quoted_with_its_position_in_the_document(
    reading: Reading,
) -> None:
    draft = await answer(
        reading,
        "How long are backups kept?",
        tool_result("comprehensive_search", passage(RUNBOOK)),
        names=(),
    )
    assert (
        "“Backups are taken each night and are kept for ninety days.” [1] (Runbook · wiki)"
        in draft.text
    )
    cited = draft.cited[0].citations[0]
    assert RUNBOOK[cited.start - 100 : cited.end - 100] == cited.quote
    assert cited.quote.startswith("Backups")


async def test_documents_that_differ_are_quoted_with_their_dates_newest_first(
    reading: Reading,
) -> None:
    old = replace(
        passage("Alerts are acknowledged within fifteen minutes.", "First"),
        valid_from=day("2023-09-04"),
    )
    new = replace(
        passage("Alerts are acknowledged within five minutes.", "Second"),
        valid_from=day("2025-10-06"),
    )
    draft = await answer(
        reading,
        "How quickly are alerts acknowledged?",
        tool_result("comprehensive_search", old, new),
        names=(),
    )
    assert draft.text.splitlines() == [
        "- “Alerts are acknowledged within five minutes.” [1] (Second · wiki), 6 October 2025",
        "- “Alerts are acknowledged within fifteen minutes.” [2] (First · wiki), 4 September 2023",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "How much does the Ledger Service cost?",
        "Who wrote the runbook?",
        "Where is the spare key of the archive?",
        "Which colour has the door?",
    ],
)
async def test_a_question_without_an_answer_in_the_sources_gets_no_guess(
    reading: Reading, question: str
) -> None:
    draft = await answer(
        reading, question, tool_result("comprehensive_search", passage(RUNBOOK)), names=()
    )
    assert draft.text == f"{NOTHING_ANSWERS} The nearest document is “Runbook” (wiki)."
    assert draft.cited == []
    assert not draft.has_answer


async def test_of_several_questions_the_unanswered_one_and_those_left_out_are_named(
    reading: Reading,
) -> None:
    found = tool_result("comprehensive_search", passage(RUNBOOK))
    asked = ("How long are backups kept?", "Who wrote the runbook?")
    parts = [AnsweredPart(read_question(one, (), CLOCK), (found,)) for one in asked]
    draft = await compose(parts, reading, introduce=False, left_out=["Why?", "Where?"])
    kept, refused, limit = draft.paragraphs
    assert "ninety days" in kept
    assert refused.startswith(f"“Who wrote the runbook?”: {NOTHING_ANSWERS}")
    assert limit.startswith("Only the first 2 questions were answered.")
    assert "“Why?”" in limit


async def test_a_sentence_about_the_person_who_is_asked_about_is_no_answer_by_that_alone(
    reading: Reading,
) -> None:
    note = passage("Priya Raman becomes the deputy of Tomas Lindqvist.", "Owner change")
    for question in ("Which university did Priya Raman attend?", "What did Priya Raman study?"):
        draft = await answer(
            reading, question, tool_result("comprehensive_search", note), names=("Priya Raman",)
        )
        assert not draft.has_answer, question
    draft = await answer(
        reading,
        "Whose deputy did Priya Raman become?",
        tool_result("comprehensive_search", note),
        names=("Priya Raman",),
    )
    assert draft.has_answer


async def test_homonyms_lead_to_a_clarifying_question(reading: Reading) -> None:
    draft = await answer(
        reading,
        "How has Mercury changed?",
        tool_result(
            "get_entity_history",
            status="ambiguous",
            entity="Mercury",
            candidates=(Candidate("Mercury", "Planet"), Candidate("Mercury", "Project")),
        ),
        names=("Mercury",),
    )
    assert (
        draft.text
        == "Several are named Mercury: Mercury (Planet), Mercury (Project). Which one do you mean?"
    )


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            {"status": "unavailable", "unavailable": ("graph",)},
            "The knowledge graph cannot be searched now. The documents were searched instead.",
        ),
        (
            {"status": "empty_graph"},
            "The knowledge graph is empty: ingest documents or facts first.",
        ),
    ],
)
async def test_a_failed_graph_search_is_mentioned_and_documents_answer(
    reading: Reading, result: dict[str, Any], said: str
) -> None:
    draft = await answer(
        reading,
        "What does the Ledger Service keep?",
        tool_result("search_knowledge_graph", passage(RUNBOOK), **result),
    )
    assert draft.paragraphs[0] == said
    assert "keeps the books" in draft.text


async def test_that_the_graph_does_not_know_a_name_is_said_after_what_the_documents_say(
    reading: Reading,
) -> None:
    unknown = tool_result(
        "search_knowledge_graph", passage(RUNBOOK), status="unknown_entity", entity="Ledgr"
    )
    draft = await answer(reading, "What does the Ledger Service keep?", unknown)
    assert "keeps the books" in draft.paragraphs[0]
    assert draft.paragraphs[1] == (
        "The knowledge graph does not know “Ledgr”; the documents were searched instead."
    )


async def test_unavailable_documents_are_reported_as_unavailable(reading: Reading) -> None:
    draft = await answer(
        reading,
        "How long are backups kept?",
        tool_result("hybrid_search", status="unavailable", unavailable=("documents",)),
        names=(),
    )
    assert draft.text == "The documents cannot be searched now."


async def test_the_planner_introduces_itself_on_request(reading: Reading) -> None:
    result = tool_result("search_knowledge_graph", owns("Ada", "2025-03-01"))
    assert (
        await answer(reading, "Who owns the Ledger Service?", result, introduce=True)
    ).text.endswith(INTRODUCTION)


async def test_a_source_that_is_cited_twice_has_one_number(reading: Reading) -> None:
    item = owns("Ada", "2025-03-01")
    second = replace(item, object="Archive", text="Ada owns the Archive.")
    draft = await answer(
        reading,
        "What does Ada own?",
        tool_result("search_knowledge_graph", item, second),
        names=("Ada",),
    )
    assert draft.text.count("[1]") == 2
    assert len(draft.cited) == 1


async def test_a_request_for_a_summary_gets_what_is_said_about_the_topic(reading: Reading) -> None:
    found = tool_result(
        "comprehensive_search",
        passage("The boiler was replaced in January. The roof leaks.", "Town hall"),
        passage("The ferry leaves at nine.", "Timetable"),
    )
    text = (await answer(reading, "Summarize the notes about the town hall", found, names=())).text
    assert "“The boiler was replaced in January.”" in text
    assert "“The roof leaks.”" in text
    assert "ferry" not in text


def test_the_reply_is_to_the_whole_of_what_was_said() -> None:
    texts = ("Thanks", "that was exactly what I needed.")
    questions = [read_question(text, [], CLOCK) for text in texts]
    assert nothing_to_look_up(questions, introduce=False).text == "You are welcome."


def test_a_part_that_states_something_is_replied_to_first() -> None:
    questions = [read_question(text, [], CLOCK) for text in ("Hi", "remember that I prefer tea")]
    assert nothing_to_look_up(questions, introduce=False, noted="Noted: you prefer tea.").text == (
        "Noted: you prefer tea."
    )


async def test_of_many_records_of_the_memory_the_answer_says_how_many_it_leaves_out(
    reading: Reading,
) -> None:
    records = [
        ResultItem("memory", f"You use Tool {number}.", 1.0 - number / 100, is_asked=True)
        for number in range(10)
    ]
    known = tool_result("query_graph", *records, total_count=23)
    draft = await answer(reading, "What do you know about me?", known, names=())
    assert "You use Tool 9." in draft.paragraphs[0]
    assert "These are 10 of 23. `braid memory list` shows all." in draft.paragraphs[0]
    all_of_them = await answer(
        reading, "What do you know about me?", tool_result("query_graph", *records), names=()
    )
    assert "These are" not in all_of_them.paragraphs[0]
