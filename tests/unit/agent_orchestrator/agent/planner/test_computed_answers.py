"""Answers computed from facts and dates: who came before, all of them, how many, how long, what happened, still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from services.agent_orchestrator.agent.planner.answers import AnsweredPart, compose
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.goal_calls import goal_calls
from services.agent_orchestrator.agent.planner.question import Clock, Question, read_question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.routing import ToolCall
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), ZoneInfo("UTC"))
TOOLS = ("search_knowledge_graph", "get_entity_history", "diff_graph", "comprehensive_search")


def day(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def fact(
    subject: str,
    relation: str,
    object_: str,
    since: str | None = None,
    until: str | None = None,
    **more: Any,
) -> ResultItem:
    text = f"{subject} {relation.casefold().replace('_', ' ')} {object_}."
    cited = Citation(f"{subject}.md", f"Note on {subject}", "wiki", text, 0, len(text), text)
    item = ResultItem(
        "fact", text, 0.5, subject, relation, object_, day(since), day(until), citations=(cited,)
    )
    return replace(item, **more)


def passage(title: str, text: str, since: str | None = None) -> ResultItem:
    cited = Citation(f"{title}.md", title, "wiki", f"chunk-{title}", 0, len(text), text)
    return ResultItem("passage", text, 0.5, valid_from=day(since), citations=(cited,))


def history(entity: str, *facts: ResultItem, **more: Any) -> ToolResult:
    result = ToolResult("get_entity_history", "ok", "acme", entity=entity, items=facts)
    return replace(result, total_count=len(facts), **more)


def asked(question: str, *names: str) -> Question:
    return read_question(question, [KnownEntity(name) for name in names], CLOCK)


async def answer(
    reading: Reading, question: str, names: Sequence[str], *results: ToolResult
) -> str:
    part = AnsweredPart(asked(question, *names), results)
    return (await compose([part], reading, introduce=False)).text


HEADS = (
    fact("Anna Berg", "HEADS", "Sales", "2018-01-01", "2020-03-01"),
    fact("Tomas Ruiz", "HEADS", "Sales", "2020-03-01", "2022-06-01"),
    fact("Sofia Lind", "HEADS", "Sales", "2022-06-01"),
    fact("Sales", "USES", "Lumen CRM", "2019-01-01"),
    fact("Tomas Ruiz", "HEADS", "Support", "2017-01-01", "2019-12-01"),
)
SALES = history("Sales", *HEADS)
PAYMENTS = history(
    "Payments",
    fact("Jonas Weber", "LEADS", "Payments", "2019-05-01", "2023-02-01"),
    fact("Priya Nair", "LEADS", "Payments", "2023-02-01", "2025-01-15"),
    fact("Omar Haddad", "LEADS", "Payments", "2025-01-15"),
    fact("Payments", "DEPENDS_ON", "Ledger", "2020-01-01"),
)


@pytest.mark.parametrize(
    ("question", "names", "expected", "others"),
    [
        ("Who was head of sales before Sofia Lind?", ("Sales", "Sofia Lind"), "Tomas", "Anna"),
        ("Who was Sofia Lind's predecessor at Sales?", ("Sofia Lind", "Sales"), "Tomas", "Anna"),
        ("Who headed Sales after Anna Berg?", ("Sales", "Anna Berg"), "Tomas", "Sofia"),
        ("Who replaced Tomas Ruiz as head of Sales?", ("Tomas Ruiz", "Sales"), "Sofia", "Anna"),
        ("Who did Tomas Ruiz replace as head of Sales?", ("Tomas Ruiz", "Sales"), "Anna", "Sofia"),
        ("Who was head of sales before Sofia?", ("Sales",), "Tomas", "Anna"),
        ("Who was Sofia's predecessor as head of Sales?", ("Sales",), "Tomas", "Anna"),
        (
            "Who was replaced by Sofia Lind as head of Sales?",
            ("Sofia Lind", "Sales"),
            "Tomas",
            "Anna",
        ),
        (
            "Who was Anna Berg replaced by as head of Sales?",
            ("Anna Berg", "Sales"),
            "Tomas",
            "Sofia",
        ),
        ("Who took over Sales from Anna Berg?", ("Sales", "Anna Berg"), "Tomas", "Sofia"),
        ("Who was the previous head of Sales?", ("Sales",), "Tomas", "Anna"),
        ("Who was the first head of Sales?", ("Sales",), "Anna", "Tomas"),
        ("Who is the latest head of Sales?", ("Sales",), "Sofia", "Tomas"),
        ("What did Tomas Ruiz head before Sales?", ("Tomas Ruiz", "Sales"), "Support", "Sofia"),
    ],
)
async def test_holders_before_after_first_and_last_come_from_the_history(
    reading: Reading, question: str, names: Sequence[str], expected: str, others: str
) -> None:
    text = await answer(reading, question, names, SALES)
    assert expected in text
    assert others not in text
    assert "(Note on" in text


async def test_that_nothing_is_stated_before_the_first_holder_is_said(reading: Reading) -> None:
    text = await answer(
        reading, "Who headed Sales before Anna Berg?", ("Sales", "Anna Berg"), SALES
    )
    assert text.startswith("Nothing earlier than this is stated:\nAnna Berg heads Sales")


async def test_the_thing_that_a_named_holder_held_is_looked_up_in_a_second_step(
    reading: Reading,
) -> None:
    question = asked("Who led before Priya Nair?", "Priya Nair")
    found = history("Priya Nair", PAYMENTS.items[1])
    calls = await goal_calls(question, [found], TOOLS, reading)
    assert calls == [ToolCall("get_entity_history", {"entity": "Payments"})]
    assert await goal_calls(question, [found, PAYMENTS], TOOLS, reading) == []
    text = await answer(reading, question.text, ("Priya Nair",), found, PAYMENTS)
    assert text.startswith(
        "Jonas Weber leads Payments (ended: from 1 May 2019 until 1 February 2023)"
    )


async def test_a_whole_list_is_in_the_order_of_time_with_its_number(reading: Reading) -> None:
    text = await answer(reading, "List all leads of Payments.", ("Payments",), PAYMENTS)
    lines = text.splitlines()
    assert lines[0] == (
        "Stated: 3 (Jonas Weber, Priya Nair and Omar Haddad) in all, 1 of them now, in the order of time:"
    )
    assert [line.split()[1] for line in lines[1:]] == ["Jonas", "Priya", "Omar"]


async def test_a_count_is_of_the_present_or_of_all_time_by_its_tense(reading: Reading) -> None:
    owned = history(
        "Priya Nair",
        fact("Priya Nair", "OWNS", "Ledger", "2020-01-01", object_type="Service"),
        fact("Priya Nair", "OWNS", "Billing", "2021-01-01", object_type="Service"),
        fact("Priya Nair", "OWNS", "Archive", "2019-01-01", "2022-01-01", object_type="Service"),
        fact("Priya Nair", "OWNS", "Laptop 12", "2019-01-01", object_type="Device"),
    )
    now = await answer(reading, "How many services does Priya Nair own?", ("Priya Nair",), owned)
    assert now.startswith("Stated: 2 (Ledger and Billing) now; 1 more in the past:")
    ever = await answer(reading, "How many leads has Payments had?", ("Payments",), PAYMENTS)
    assert ever.startswith(
        "Stated: 3 (Jonas Weber, Priya Nair and Omar Haddad) in all, 1 of them now:"
    )


async def test_what_is_counted_is_never_another_relation(reading: Reading) -> None:
    text = await answer(reading, "How many tables does Payments have?", ("Payments",), PAYMENTS)
    assert "(Ledger)" not in text
    assert "Stated" not in text


@pytest.mark.parametrize(
    "question",
    [
        "How many users does Payments have?",
        "How many rooms does Payments have?",
        "When was Payments last audited?",
        "What is the first step to restart Payments?",
        "List all prices of Payments.",
    ],
)
async def test_what_no_relation_of_a_thing_means_is_not_computed_from_another_one(
    reading: Reading, question: str
) -> None:
    text = await answer(reading, question, ("Payments",), PAYMENTS)
    assert "[1]" not in text


async def test_a_relation_is_meant_also_in_other_words(reading: Reading) -> None:
    device = history(
        "S2",
        fact("S2", "COSTS", "£90", "2023-01-01", "2025-04-01"),
        fact("S2", "COSTS", "£120", "2025-04-01"),
        fact("Nord", "SUPPLIES", "S2", "2022-01-01"),
    )
    text = await answer(reading, "List all prices of the S2", ("S2",), device)
    assert text.startswith("Stated: 2 (£90 and £120) in all, 1 of them now, in the order of time:")
    text = await answer(reading, "Does the S2 still cost £90?", ("S2",), device)
    assert text.startswith("No, it ended on 1 April 2025:")
    assert "S2 costs £120 (since 1 April 2025)" in text


async def test_an_event_marks_a_time_and_is_no_predecessor(reading: Reading) -> None:
    event = fact("Sales", "CAUSED", "INC-104", "2021-04-18", is_event=True)
    text = await answer(
        reading,
        "Who headed Sales before INC-104?",
        ("Sales", "INC-104"),
        history("Sales", *HEADS, event),
    )
    assert text.startswith("Tomas Ruiz heads Sales")
    assert "INC-104" not in text


async def test_a_stated_number_is_the_answer_to_how_many(reading: Reading) -> None:
    staff = history("Acme", fact("Acme", "HAS_EMPLOYEES", "350 people", "2024-01-01"))
    text = await answer(reading, "How many employees does Acme have?", ("Acme",), staff)
    assert text.startswith("Acme has employees 350 people (since 1 January 2024)")


async def test_a_duration_reaches_from_the_start_to_the_end_or_to_now(reading: Reading) -> None:
    names = ("Omar Haddad", "Payments")
    text = await answer(reading, "How long has Omar Haddad led Payments?", names, PAYMENTS)
    assert text.startswith("1 year, 10 months and 9 days so far: Omar Haddad leads Payments")
    names = ("Jonas Weber", "Payments")
    text = await answer(reading, "How long did Jonas Weber lead Payments?", names, PAYMENTS)
    assert text.startswith("3 years and 9 months: Jonas Weber leads Payments")


async def test_still_is_answered_with_yes_or_no_from_the_dates(reading: Reading) -> None:
    names = ("Omar Haddad", "Payments")
    text = await answer(reading, "Does Omar Haddad still lead Payments?", names, PAYMENTS)
    assert text.startswith("Yes, since 15 January 2025:")
    names = ("Priya Nair", "Payments")
    text = await answer(reading, "Is Priya Nair still the lead of Payments?", names, PAYMENTS)
    assert text.startswith("No, it ended on 15 January 2025:")
    assert text.splitlines()[-2:][0] == "Now:"
    assert "Omar Haddad leads Payments (since 15 January 2025)" in text


async def test_still_about_something_that_no_fact_names_is_not_answered_by_another_fact(
    reading: Reading,
) -> None:
    text = await answer(reading, "Does Sales still use Oracle?", ("Sales",), SALES)
    assert "Yes" not in text


async def test_two_terms_of_one_holder_are_two(reading: Reading) -> None:
    team = history(
        "Physics Team",
        fact("Marie Duval", "LEADS", "Physics Team", "2015-03-02", "2019-02-01"),
        fact("Ken Ito", "LEADS", "Physics Team", "2019-02-01", "2021-09-15"),
        fact("Marie Duval", "LEADS", "Physics Team", "2021-09-15"),
        fact("Ken Ito", "BELONGS_TO", "Physics Team", "2016-01-01", "2022-01-01"),
    )
    both = ("Marie Duval", "Physics Team")
    text = await answer(reading, "How long has Marie Duval led the Physics Team?", both, team)
    assert "3 years, 10 months and 30 days: " in text
    assert "5 years, 2 months and 9 days so far: " in text
    text = await answer(reading, "Who led the Physics Team before Marie Duval?", both, team)
    assert text.startswith("Ken Ito leads")
    text = await answer(reading, "How many times has Marie Duval led the Physics Team?", both, team)
    assert text.startswith("Stated: 2 times:")
    text = await answer(reading, "How many leads has the Physics Team had?", both[1:], team)
    assert text.startswith("Stated: 2 (Marie Duval and Ken Ito) in all, 1 of them now:")


async def test_still_is_never_answered_from_another_relation_of_the_same_things(
    reading: Reading,
) -> None:
    team = history(
        "Core",
        fact("Ken Ito", "BELONGS_TO", "Core", "2016-01-01", "2022-01-01"),
        fact("Lea Roy", "LEADS", "Core", "2016-01-01"),
    )
    text = await answer(reading, "Is Ken Ito still leading Core?", ("Ken Ito", "Core"), team)
    assert not text.startswith(("No", "Yes"))


async def test_two_things_are_compared_side_by_side_by_relation(reading: Reading) -> None:
    text = await answer(
        reading, "Compare Sales and Payments", ("Sales", "Payments"), SALES, PAYMENTS
    )
    assert (
        "Depends on:\n- Sales: nothing is stated.\n- Payments: Payments depends on Ledger" in text
    )
    assert "- Sales: Sofia Lind heads Sales (since 1 June 2022). [" in text
    assert "Tomas" not in text


async def test_a_period_lists_its_changes_and_dated_documents_newest_first(
    reading: Reading,
) -> None:
    question = asked("What happened in April 2024?")
    search = ToolResult("comprehensive_search", "no_match", "acme")
    diff, documents = await goal_calls(question, [search], TOOLS, reading)
    assert diff.arguments == {
        "before": "2024-03-31T23:59:59.999999+00:00",
        "after": "2024-04-30T23:59:59.999999+00:00",
    }
    assert documents.tool == "comprehensive_search"
    changes = (
        fact("Ada", "OWNS", "Ledger", "2024-04-02", kind="change", change="added"),
        fact("Bo", "OWNS", "Ledger", "2020-01-01", "2024-04-20", kind="change", change="ended"),
    )
    found = ToolResult("diff_graph", "ok", "acme", items=changes, total_count=2)
    notes = (
        passage("Early", "The fair opened.", "2024-04-01"),
        passage("Late", "The fair closed.", "2024-04-28"),
        passage("Other", "The hall was painted.", "2024-03-30"),
        passage("Undated", "The hall is large."),
    )
    dated = replace(search, status="ok", items=notes)
    text = await answer(reading, question.text, (), search, found, dated)
    assert text.startswith("From 1 April 2024 to 30 April 2024, newest first:\n- Ended: Bo owns")
    assert text.index("The fair closed.") < text.index("The fair opened.")
    assert "hall" not in text


async def test_a_period_lists_each_message_in_it(reading: Reading) -> None:
    thread = (
        "Priya (2024-05-03 09:15): Morning all\n\nTomas (2024-05-20 09:16): I sold my boat.\n\n"
        "Priya (2024-06-02 09:18): Sorry to hear it."
    )
    search = ToolResult("comprehensive_search", "no_match", "acme")
    found = ToolResult("diff_graph", "ok", "acme")
    dated = replace(search, status="ok", items=(passage("Chat", thread, "2024-05-03"),))
    text = await answer(reading, "What happened in May 2024?", (), search, found, dated)
    assert text.index("Tomas: “I sold my boat.”") < text.index("Priya: “Morning all”")
    assert "Sorry" not in text


async def test_who_left_lists_what_ended_only(reading: Reading) -> None:
    changes = (
        fact("Ada", "MEMBER_OF", "Core", "2024-04-02", kind="change", change="added"),
        fact("Bo", "MEMBER_OF", "Core", "2020-01-01", "2024-04-20", kind="change", change="ended"),
    )
    found = ToolResult("diff_graph", "ok", "acme", items=changes, total_count=2)
    left = await answer(reading, "Who left in April 2024?", (), found)
    assert "Bo" in left
    assert "Ada" not in left
    joined = await answer(reading, "Who joined in April 2024?", (), found)
    assert "Ada" in joined
    assert "Bo" not in joined


async def test_what_cannot_be_counted_or_compared_is_said_in_these_words(reading: Reading) -> None:
    nothing = ToolResult(
        "comprehensive_search", "ok", "acme", items=(passage("Menu", "Soup is served at noon."),)
    )
    text = await answer(reading, "How many owners has the Ledger had?", (), nothing)
    assert text == "I cannot count this from the documents. The nearest document is “Menu” (wiki)."
    text = await answer(
        reading, "Compare the Ledger and the Archive", ("Ledger", "Archive"), nothing
    )
    assert text.startswith("I cannot compare these from the documents.")


async def test_a_list_that_is_quoted_from_documents_says_that_there_may_be_more(
    reading: Reading,
) -> None:
    found = ToolResult(
        "comprehensive_search", "ok", "acme", items=(passage("Prices", "The S2 costs £90."),)
    )
    text = await answer(reading, "List all prices of the S2.", (), found)
    assert text.splitlines()[-1].startswith("- There may be more")


async def test_a_long_history_is_read_in_few_pages_and_its_limit_is_said(reading: Reading) -> None:
    question = asked("List all owners of the Ledger.", "Ledger")
    pages = [
        history(
            "Ledger",
            *(fact(f"Owner {n}", "OWNS", "Ledger", f"{1500 + n}-01-01", f"{1501 + n}-01-01")
              for n in range(page * 50, page * 50 + 50)),
            next_page=f"page-{page + 1}",
        )
        for page in range(4)
    ]  # fmt: skip
    pages[0] = replace(pages[0], total_count=500)
    read = [pages[0]]
    while calls := await goal_calls(question, read, TOOLS, reading):
        assert calls[0].arguments["page"] == read[-1].next_page
        read.append(pages[len(read)])
    assert len(read) == 4
    text = await answer(reading, question.text, ("Ledger",), *read)
    assert "This is from 200 of the 500 facts about Ledger" in text
    assert "150 more are not shown" in text
    assert len(text.splitlines()) == 52


@pytest.mark.parametrize("question", ["", "???", "Hello there", "Sales", "before"])
async def test_no_call_is_made_for_what_asks_for_nothing_to_compute(
    reading: Reading, question: str
) -> None:
    first = ToolResult("comprehensive_search", "ok", "acme")
    assert await goal_calls(asked(question), [first], TOOLS, reading) == []


async def test_a_name_that_the_graph_does_not_know_is_not_looked_up(reading: Reading) -> None:
    unknown = read_question(
        "How many people live in Lisbon?", [KnownEntity("Lisbon", is_known=False)], CLOCK
    )
    first = ToolResult("comprehensive_search", "ok", "acme")
    assert await goal_calls(unknown, [first], TOOLS, reading) == []
