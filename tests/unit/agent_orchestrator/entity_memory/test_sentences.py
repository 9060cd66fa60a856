"""Relationships in words: the user as a subject and an object, in the form of "you", "I" or "the user"."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.records import NamedEnd, NewRelationship
from services.agent_orchestrator.entity_memory.sentences import (
    THE_USER,
    YOU,
    I,
    UserAs,
    clause,
    sentence,
)

USES, KNOWS = RelationshipType.USES, RelationshipType.KNOWS
USER = NamedEnd()


def end(name: str) -> NamedEnd:
    return NamedEnd(name=name)


@pytest.mark.parametrize(
    ("one", "user", "said"),
    [
        (NewRelationship(USER, USES, end("DuckDB")), YOU, "you use DuckDB"),
        (NewRelationship(USER, USES, end("DuckDB")), I, "I use DuckDB"),
        (NewRelationship(USER, USES, end("DuckDB")), THE_USER, "the user uses DuckDB"),
        (NewRelationship(end("Tomek"), KNOWS, USER), I, "Tomek knows me"),
        (NewRelationship(end("Tomek"), KNOWS, USER), THE_USER, "Tomek knows the user"),
        (NewRelationship(end("dbt"), USES, end("DuckDB")), YOU, "dbt uses DuckDB"),
    ],
)
def test_a_relationship_is_a_clause(one: NewRelationship, user: UserAs, said: str) -> None:
    assert clause(one, user) == said


def test_a_sentence_begins_with_a_capital_only_where_the_user_does() -> None:
    assert sentence(NewRelationship(USER, USES, end("DuckDB")), THE_USER) == "The user uses DuckDB."
    assert sentence(NewRelationship(end("dbt"), USES, end("DuckDB")), YOU) == "dbt uses DuckDB."


@pytest.mark.parametrize("type_", RelationshipType)
def test_every_type_has_words(type_: RelationshipType) -> None:
    assert clause(NewRelationship(USER, type_, end("X")), YOU).startswith("you ")
