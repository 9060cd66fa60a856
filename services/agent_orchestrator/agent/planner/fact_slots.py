"""Slots of a graph's facts: everything that one relation connects with a thing, such as the owners of a service.

A question names a slot in its own words. Which slot it means is decided by reading a fact of each one next to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from services.agent_orchestrator.agent.planner.language import (
    content_stems,
    fold,
    stem,
)
from services.agent_orchestrator.agent.planner.question import Question, without_times
from services.agent_orchestrator.agent.planner.reading import BAR, Reading
from services.agent_orchestrator.agent.planner.relation_direction import side_of
from services.agent_orchestrator.agent.planner.statements import Statement, fact_statements
from services.agent_orchestrator.agent.results import ResultItem

# Slots of an entity that are read next to a question.
_MAX_SLOTS: Final = 20
_NO_PREPOSITION: Final = frozenset({"of", "by", "is", "was", "has", "the", "a"})
# The least logit at which a slot is meant that the question does not name in any word: a thing's version is near to the
# number of its users.
MEANT: Final = 3.0
# The side of a relation that a question's grammar names.
_ON_SIDE: Final = 4.0
_UNREAD: Final = -20.0
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Slot:
    """A thing, a relation without its voice, and whether the thing is the relation's subject."""

    topic: str
    relation: frozenset[str]
    is_subject: bool


def relation_key(item: ResultItem) -> frozenset[str]:
    """Returns what relations of one meaning share: OWNS and OWNED_BY, but not WORKS_ON and WORKS_FOR."""
    words = item.relation.casefold().split("_")
    return frozenset(stem(word) for word in words if word not in _NO_PREPOSITION)


def active_ends(item: ResultItem) -> tuple[str, str]:
    """Returns the subject and object that a fact has in the active voice."""
    if item.relation.upper().endswith("_BY"):
        return item.object, item.subject
    return item.subject, item.object


def slots_of(item: ResultItem) -> tuple[Slot, Slot]:
    """Returns the slots that a fact fills: of its subject and of its object."""
    subject, object_ = active_ends(item)
    relation = relation_key(item)
    return Slot(fold(subject), relation, True), Slot(fold(object_), relation, False)


def value_in(slot: Slot, item: ResultItem) -> str:
    """Returns what a fact puts into a slot."""
    return active_ends(item)[1 if slot.is_subject else 0]


def type_in(slot: Slot, item: ResultItem) -> str:
    """Returns the type of what a fact puts into a slot; empty if it is unknown."""
    is_object = item.object == value_in(slot, item)
    return item.object_type if is_object else item.subject_type


def connects(item: ResultItem, names: Iterable[str]) -> bool:
    """Whether a fact has every one of the names at an end."""
    return {fold(name) for name in names} <= {fold(item.subject), fold(item.object)}


def in_slot(slot: Slot, items: Iterable[ResultItem]) -> list[Statement]:
    """Returns the facts of a slot in the order of time; those without a date come first."""
    filling = [item for item in items if slot in slots_of(item)]
    return sorted(fact_statements(filling), key=lambda one: (began(one), ended_order(one)))


def began(one: Statement) -> datetime:
    """Returns when a fact began, the earliest instant if that is unknown."""
    return one.item.valid_from or _EARLIEST


def ended_order(one: Statement) -> float:
    """Returns a key by which facts that ended earlier come first."""
    until = one.item.valid_until
    return float("inf") if until is None else until.timestamp()


def names_relation(question: Question, one: Statement) -> bool:
    """Whether a question names a fact's relation; one that names nothing but entities names all of them."""
    said = words_about(question)
    return not said or bool(said & words_of(one.item))


def meant(question: Question, read: Sequence[Statement]) -> list[Statement]:
    """Returns the facts whose relation a question names; if it names none, those that are clearly read to answer."""
    named = [one for one in read if names_relation(question, one)]
    return named or [one for one in read if one.score >= MEANT]


async def choose_slot(
    reading: Reading,
    question: Question,
    topic: str,
    items: Sequence[ResultItem],
    *,
    any_side: bool = False,
) -> Slot | None:
    """Returns the slot of a thing that a question asks for; None if no relation is read to be meant.

    The latest fact of each slot is read next to the question; slots that share a word with it come first. With
    `any_side` the facts also have another entity of the question: less is needed to mean them, and the grammar of the
    question is about that one.
    """
    latest: dict[Slot, Statement] = {}
    for one in sorted(fact_statements(items), key=began):
        latest |= {slot: one for slot in slots_of(one.item) if slot.topic == fold(topic)}
    read = await reading.read(question.text, list(latest.values()), limit=_MAX_SLOTS)
    scores = {one.text: one.score for one in read}
    said = words_about(question)
    side = "" if any_side else side_of(question)
    best: tuple[tuple[bool, float], Slot] | None = None
    for slot, one in latest.items():
        score, named = scores.get(one.text, _UNREAD), bool(said & words_of(one.item))
        if not named and score < (BAR if any_side else MEANT):
            continue
        wanted = "object" if named and not any_side and _names_role(question, slot) else side
        on_side = wanted == ("subject" if slot.is_subject else "object")
        value = named, score + _ON_SIDE * on_side
        if best is None or value > best[0]:
            best = value, slot
    return best[1] if best else None


def words_of(item: ResultItem) -> frozenset[str]:
    """Returns the stems of a fact's relation and of its words outside the names of its ends."""
    names = content_stems(f"{item.subject} {item.object}")
    return relation_key(item) | (content_stems(item.text) - names)


def _names_role(question: Question, slot: Slot) -> bool:
    """Whether a question names who acts in a relation by a noun: the owners of a thing own it."""
    return any(
        stem(word) in slot.relation and word.removesuffix("s").endswith(("er", "or"))
        for word in question.words
    )


def words_about(question: Question) -> frozenset[str]:
    """Returns the stems of a question's words without its times and the names of its entities."""
    text = fold(without_times(question.text, question.times))
    for entity in question.entities:
        text = text.replace(fold(entity.name), " ")
    return content_stems(text)
