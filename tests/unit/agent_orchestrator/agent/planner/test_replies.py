"""Replies to what asks nothing, and how it is distinguished from questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.agent.planner.replies import (
    ACKNOWLEDGED,
    GOODBYE,
    GREETING,
    HOW_TO_FORGET,
    NOTED,
    WELCOME,
    asked_of_conversations,
    asks,
    asks_about_conversations,
    asks_nothing,
    confirms_too_briefly,
    declares,
    is_foreign_statement,
    keeps_in_mind,
    may_state,
    reply_to,
)
from services.agent_orchestrator.entity_memory.forgetting import TO_CONFIRM


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("We moved to Snowflake last week.", NOTED),
        ("I prefer tea.", NOTED),
        ("Our office has two floors now.", NOTED),
        ("forget that I use emacs", HOW_TO_FORGET),
        ("Please forget about the old office", HOW_TO_FORGET),
        ("Can you delete everything you know about me?", HOW_TO_FORGET),
        ("clear my memory", HOW_TO_FORGET),
        ("forget it", ACKNOWLEDGED),
        ("ok, never mind", ACKNOWLEDGED),
        ("Thanks a lot!", WELCOME),
        ("great, thank you", WELCOME),
        ("Goodbye!", GOODBYE),
        ("Good morning", GREETING),
        ("Hello there", GREETING),
        ("What can you do?", GREETING),
    ],
)
def test_what_asks_nothing_gets_a_fitting_reply(text: str, reply: str) -> None:
    assert asks_nothing(text)
    assert reply_to(text, NOTED) == reply


def test_a_statement_is_noted_only_if_it_is_saved() -> None:
    assert reply_to("I prefer tea.", ACKNOWLEDGED) == ACKNOWLEDGED


@pytest.mark.parametrize(
    "question",
    [
        "I don't know who owns the barn",
        "We tried to find the runbook for the pump",
        "I forgot how the backups work",
        "Who removed the memory limit?",
        "How do I delete a document?",
        "Did we move to Snowflake?",
        "What did we forget to order?",
        "I want to know who owns the barn",
    ],
)
def test_questions_are_looked_up(question: str) -> None:
    assert not asks_nothing(question)


@pytest.mark.parametrize(
    "text",
    ["The gate code is 4411.", "Ada joined the night crew in March!", "Our bell was recast."],
)
def test_a_statement_about_anything_is_no_question(text: str) -> None:
    assert declares(text) or asks_nothing(text)


@pytest.mark.parametrize(
    "text", ["Who is it.", "gate code", "List all bells that are old.", "Is the gate code 4411?"]
)
def test_a_request_states_nothing(text: str) -> None:
    assert not declares(text)


@given(st.text(max_size=200))
def test_any_text_has_a_reply(text: str) -> None:
    assert reply_to(text, NOTED)


@pytest.mark.parametrize(
    ("text", "topic", "of_assistant"),
    [
        ("When did I tell you about the pump?", "the pump", False),
        ("Have I ever mentioned that I row?", "I row", False),
        ("What did I say about herons?", "herons", False),
        ("What did you tell me about Ada?", "Ada", True),
        ("What have you suggested on the roof?", "the roof", True),
        ("What was in our last conversation about Vienna?", "Vienna", False),
    ],
)
def test_questions_about_earlier_conversations_have_a_topic(
    text: str, topic: str, of_assistant: bool
) -> None:
    assert asks_about_conversations(text)
    assert asked_of_conversations(text) == (topic, of_assistant)


@pytest.mark.parametrize(
    "text",
    [
        "When did Tomas tell Priya about the outage?",
        "Did we discuss the budget in March?",
        "What did Ada say about the roof?",
        "Did I tell Ada about it?",
        "What do you know about me?",
        "Which conversations does the handbook recommend?",
    ],
)
def test_what_others_said_is_looked_up_in_documents(text: str) -> None:
    assert not asks_about_conversations(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sturmvogel needs PostgreSQL and Redis.",
        "My sister Mara lives in Linz",
        "I don't use Docker.",
        "I'm vegetarian",
        "We switched from Kafka to NATS!",
    ],
)
def test_a_sentence_that_asks_nothing_may_state_something(text: str) -> None:
    assert may_state(text)
    assert not asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "Who owns the Ledger Service",
        "Sturmvogel needs PostgreSQL?",
        "I don't know who owns the Ledger Service.",
        "ledger service owner",
        "List all services.",
        "Forget that I use Docker.",
        "My log. " * 1000,
    ],
)
def test_what_asks_or_only_names_something_states_nothing(text: str) -> None:
    assert not may_state(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I'm vegetarian.", True),
        ("My birthday is on 4 May.", True),
        ("Always answer in metric units.", True),
        ("Please remember that the gate code is 4411.", True),
        ("Hello there", False),
        ("The gate code is 4411.", False),
        ("Is my birthday on 4 May?", False),
        ("Thanks!", False),
        ("I'm fine", False),
        ("Never mind.", False),
    ],
)
def test_what_is_about_the_user_or_how_they_want_it_is_kept_in_mind(text: str, kept: bool) -> None:
    assert keeps_in_mind(text) == kept


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Ich wohne in Wien und arbeite bei einer Bank.", True),
        ("Ich wohne in Wien, und du?", False),
        ("I live in Vienna.", False),
        ("Wer leitet das Team", False),
        ("Nenne mir alle Dienste des Teams.", False),
        ("Je travaille pour une banque à Lyon.", True),
    ],
)
def test_a_sentence_of_another_language_that_asks_nothing_is_recognized(
    text: str, foreign: bool
) -> None:
    assert is_foreign_statement(text) == foreign


def test_yes_alone_does_not_confirm_what_erases_everything() -> None:
    assert confirms_too_briefly("yes", f"This erases it. {TO_CONFIRM}")
    assert confirms_too_briefly("Ok, please!", f"This erases it. {TO_CONFIRM}")
    assert not confirms_too_briefly("Yes, forget everything.", f"This erases it. {TO_CONFIRM}")
    assert not confirms_too_briefly("yes", "Your boss is Bob.")
