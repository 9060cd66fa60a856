"""What a reply says of a turn: what it adds to the user's memory, what it takes back, and how to undo it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.extraction import Conversation, KnownNames
from services.agent_orchestrator.entity_memory.notes import Notes
from services.agent_orchestrator.entity_memory.records import (
    End,
    Limits,
    NewRelationship,
    Provenance,
    Relationship,
)
from services.agent_orchestrator.entity_memory.turns import TurnNews, news_of
from services.runtime.text_worker import WorkerFailedError


class Here:
    """Reads turns in this process."""

    async def read(self, turns: Sequence[str]) -> TurnNews:
        """What the last turn adds."""
        conversation = Conversation(KnownNames.load())
        for turn in turns[:-1]:
            conversation.read(turn)
        return news_of(conversation.read(turns[-1]))


class Failing:
    """Cannot read turns."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    async def read(self, _turns: Sequence[str]) -> TurnNews:
        """Raises the error, or never ends."""
        if self._error is not None:
            raise self._error
        await asyncio.Event().wait()
        raise AssertionError


class Stored:
    """A memory with some relationships, and with the names that were said in them."""

    def __init__(self, *relationships: Relationship, known: bool = True) -> None:
        self._relationships = relationships
        self._known = known

    async def replaced_by(self, new: NewRelationship) -> Sequence[Relationship]:
        """All of them, if the new one is of a role."""
        return self._relationships if new.role else []

    async def knows(self, _name: str) -> bool:
        """Whether names are known."""
        return self._known


def stored(role: str, name: str) -> Relationship:
    """A relationship of the user in an earlier conversation."""
    seen, now = Provenance("earlier", "message"), datetime.now(UTC)
    return Relationship(
        "1",
        End("2", "User", None),
        RelationshipType.WORKS_WITH,
        End("3", name, EntityType.PERSON),
        "",
        1.0,
        1,
        seen,
        seen,
        now,
        now,
        None,
        role,
    )


@pytest.mark.parametrize(
    ("turns", "note"),
    [
        (
            ["I work on Sturmvogel."],
            "Noted: you work on Sturmvogel. To undo it, say: “forget that I work on Sturmvogel”.",
        ),
        (
            ["I use DuckDB and I work with Tomek."],
            "Noted: you use DuckDB; you work with Tomek. To undo it, say: “forget that I use DuckDB”.",
        ),
        (["I use Miro.", "I no longer use Miro."], "No longer noted: Miro."),
        (["I am tired."], ""),
        (
            ["My boss is Ana.", "My manager is Bob now."],
            "Noted: your manager is Bob (before: Ana). To undo it, say: “forget that my manager is Bob”.",
        ),
        (
            ["I live in Graz.", "I moved to Vienna."],
            "Noted: you live in Vienna (before: Graz). To undo it, say: “forget that I live in Vienna”.",
        ),
        (
            ["My friend is Ana.", "My friend is Bob."],
            "Noted: your friend is Bob. To undo it, say: “forget that my friend is Bob”.",
        ),
    ],
)
async def test_a_note_says_what_changes_in_the_users_memory(turns: list[str], note: str) -> None:
    assert await Notes(Here(), Stored(), Limits()).of(turns) == note


async def test_a_note_says_what_an_earlier_conversation_has_in_its_place() -> None:
    memory = Stored(stored("supervisor", "Ana"), stored("boss", "Bob"))
    note = await Notes(Here(), memory, Limits()).of(["My boss is Bob."])
    assert note is not None
    assert note.startswith("Noted: your boss is Bob (before: Ana).")


async def test_what_was_never_noted_is_not_said_to_be_noted_no_longer() -> None:
    assert await Notes(Here(), Stored(known=False), Limits()).of(["I don't use Docker."]) == ""


async def test_what_is_not_certain_enough_to_be_saved_is_not_noted() -> None:
    assert (
        await Notes(Here(), Stored(), Limits(confidence_threshold=1.1)).of(["I use DuckDB."]) == ""
    )


@pytest.mark.parametrize("error", [WorkerFailedError("gone"), TimeoutError(), None])
async def test_nothing_is_said_of_a_turn_that_is_not_read_in_time(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.agent_orchestrator.entity_memory.notes._SECONDS", 0.01)
    assert await Notes(Failing(error), Stored(), Limits()).of(["I use DuckDB."]) is None
