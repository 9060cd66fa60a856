"""What somebody or something is to the user is kept as a role, and what is said in its place ends it."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.entity_memory.extraction import Conversation, KnownNames
from services.agent_orchestrator.entity_memory.turns import TurnNews, news_of

KNOWN = KnownNames.load()


def last(*turns: str) -> TurnNews:
    """Returns what the last turn adds and takes back."""
    conversation = Conversation(KNOWN)
    for turn in turns[:-1]:
        conversation.read(turn)
    return news_of(conversation.read(turns[-1]))


@pytest.mark.parametrize(
    ("turn", "type_", "name", "role"),
    [
        ("My boss is Ana.", "WORKS_WITH", "Ana", "boss"),
        ("Ana is my new boss.", "WORKS_WITH", "Ana", "boss"),
        ("My line manager is Ana.", "WORKS_WITH", "Ana", "line manager"),
        ("My wife is Ines.", "KNOWS", "Ines", "wife"),
        ("My editor is Helix.", "USES", "Helix", "editor"),
        ("My favourite editor is Zed.", "PREFERS", "Zed", "favorite editor"),
        ("My go-to language is Rust.", "PREFERS", "Rust", "favorite language"),
        ("Our CI tool is Jenkins.", "USES", "Jenkins", "CI tool"),
        ("I live in Graz.", "LIVES_IN", "Graz", ""),
        ("I'm based in Graz.", "LIVES_IN", "Graz", ""),
        ("I moved to Vienna.", "LIVES_IN", "Vienna", ""),
    ],
)
def test_a_role_is_what_the_user_calls_it(turn: str, type_: str, name: str, role: str) -> None:
    [one] = last(turn).relationships
    assert (one.source.is_user, one.type, one.target.name, one.role) == (True, type_, name, role)


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ("My boss is Ana.", "My boss is Bob.", "Ana"),
        ("My boss is Ana.", "My manager is Bob now.", "Ana"),
        ("My editor is Vim.", "My editor is Helix.", "Vim"),
        ("Our database is PostgreSQL.", "Our database is MySQL now.", "PostgreSQL"),
        ("I live in Graz.", "I moved to Vienna.", "Graz"),
        ("I live in Graz.", "I live in Vienna now.", "Graz"),
        ("I work at Acme.", "I work at Globex now.", "Acme"),
    ],
)
def test_what_is_said_in_place_of_something_ends_it(before: str, after: str, gone: str) -> None:
    news = last(before, after)
    assert [(one.target.name, one.mistaken) for one in news.retracted] == [(gone, False)]
    assert [one.exclusive for one in news.relationships] == [True]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My friend is Ana.", "My friend is Bob."),
        ("My colleague is Ana.", "My colleague Ravi helped me."),
        ("My work laptop is a ThinkPad.", "My home laptop is a MacBook."),
        ("Our database is PostgreSQL.", "Our database is MySQL."),
        ("My editor is Vim.", "My favourite editor is Helix."),
        ("My boss is Ana.", "Bob's boss is Clara."),
        ("I live in Graz.", "Ana lives in Vienna."),
        ("My project is Sturmvogel.", "My project is Albatros."),
    ],
)
def test_what_may_be_true_beside_it_ends_nothing(before: str, after: str) -> None:
    assert last(before, after).retracted == ()


def test_what_was_never_meant_is_no_history() -> None:
    [gone] = last("My database is Postgres.", "Sorry, I meant MySQL.").retracted
    assert (gone.target.name, gone.mistaken) == ("Postgres", True)


def test_a_place_stays_one_when_it_is_said_again() -> None:
    [one] = last("I moved to Munich.", "I moved to Munich.").relationships
    assert one.type == "LIVES_IN"


def test_a_tool_is_not_lived_in() -> None:
    [one] = last("I live in Emacs.").relationships
    assert one.type == "USES"


def test_a_stressed_verb_is_no_name_and_irony_is_no_statement() -> None:
    [one] = last("I LOVE using Jenkins.").relationships
    assert (one.source.is_user, one.target.name) == (True, "Jenkins")
    assert last("Sure, I just LOVE working with Jenkins, said nobody ever.").relationships == ()
