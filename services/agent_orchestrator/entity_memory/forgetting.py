"""Requests to forget, and what they mean: the entities and relationships of a user's memory that the words name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.matching import Name
from services.agent_orchestrator.entity_memory.names import folded_text
from services.agent_orchestrator.entity_memory.questions import KNOWING, has_role, read_question
from services.agent_orchestrator.entity_memory.records import Entity, Relationship
from services.agent_orchestrator.entity_memory.user_words import stands_in
from services.runtime.patterns import compile_linear

# "everything about me", "all you know about me", "my memory": no name limits it.
_KNOWN: Final = rf"(?:that )?you(?:'ve| have)? {KNOWING}"
_ABOUT_USER: Final = r"(?: (?:about|of|on) me)?\W*$"
_ALL: Final = compile_linear(
    rf"\b(?:everything|all|anything|whatever)(?: {_KNOWN})?{_ABOUT_USER}"
    rf"|\bwhat {_KNOWN} (?:about|of|on) me\W*$"
    rf"|\b(?:my|your|the) (?:whole |entire )?memor(?:y|ies){_ABOUT_USER}",
    ignore_case=True,
)
_POLITE: Final = r"^\W*(?:(?:please|kindly|ok|okay|yes|now|and|(?:can|could|would|will) you)[ ,]+)*"
_FORGET: Final = r"(?:forget|unlearn|stop remembering|don't remember|do not remember)"
_DELETE: Final = r"(?:delete|erase|remove|clear|wipe)"
# "Delete" may be meant of anything.
_ASKS: Final = compile_linear(
    rf"{_POLITE}(?:{_FORGET}\s+\S|{_DELETE}\s.*"
    r"\b(?:memor(?:y|ies)|(?:about|of|on) me|you (?:know|remember|saved|stored))\b)",
    ignore_case=True,
)
_FORGET_IT: Final = compile_linear(r"^\W*forget (?:it|about it|that)\W*$", ignore_case=True)
_REQUEST: Final = compile_linear(
    rf"{_POLITE}(?:{_FORGET}|{_DELETE})\b"
    r"(?: (?:that|about|everything|all|what|anything|whatever|it|this))*"
    rf"(?: {_KNOWN})?(?: (?:about|of|on|regarding))?",
    ignore_case=True,
)
_FIRST_PERSON: Final = compile_linear(r"\b(?:i|i'm|i've|we|we're|we've|my|our)\b", ignore_case=True)
TO_CONFIRM: Final = "To confirm, say: “Yes, forget everything.”"
_CONFIRMS: Final = compile_linear(r"^\W*(?:yes|i confirm|confirmed)\b", ignore_case=True)


class Selection(NamedTuple):
    """The ids of what a request names. `ambiguous` are entities that share the name: nothing is chosen then."""

    entities: tuple[str, ...] = ()
    relationships: tuple[str, ...] = ()
    ambiguous: tuple[Name, ...] = ()


class Forgotten(NamedTuple):
    """What was deleted, and what holds again without it; or the entities among which the user has to choose."""

    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    resumed: tuple[Relationship, ...] = ()
    ambiguous: tuple[Name, ...] = ()


def named_in(words: str, names: Sequence[Name]) -> list[Name]:
    """Returns the entities whose name or alias stands in the words; of names within each other the longest."""
    found = {
        one: said
        for one in names
        if (said := [name for name in (one.name, *one.aliases) if stands_in(words, name)])
    }
    longest = {one: max(map(folded_text, said), key=len) for one, said in found.items()}
    return [
        one
        for one, name in longest.items()
        if not any(name != other and stands_in(other, name) for other in longest.values())
    ]


def select(words: str, named: Sequence[Name], around: Sequence[Relationship]) -> Selection:
    """Returns what to delete of the named entities and the relationships around them.

    Words about the user, or about two of the entities, mean the relationships between these; otherwise the entity
    itself is meant, with all that is known of it.
    """
    ids = {one.id for one in named}
    is_about_user = _FIRST_PERSON.search(words.replace("’", "'")) is not None
    between = tuple(
        one.id
        for one in around
        if all(end.id in ids or (end.is_user and is_about_user) for end in (one.source, one.target))
    )
    if between or is_about_user:
        return Selection(relationships=between)
    typed = [one for one in named if stands_in(words, one.type)]
    chosen = typed or list(named)
    folded = [folded_text(one.name) for one in chosen]
    if len(set(folded)) < len(folded):
        return Selection(ambiguous=tuple(chosen))
    return Selection(entities=tuple(one.id for one in chosen))


def of_role(words: str, own: Sequence[Relationship]) -> Selection:
    """Returns what has the role that a request names instead of a name: "forget my boss", "where I live"."""
    question = read_question(subject_to_forget(words), (), None, None)
    chosen = tuple(
        one.id
        for one in own
        if has_role(question, one)
        or (one.type is RelationshipType.LIVES_IN and one.type in question.types)
    )
    return Selection(relationships=chosen)


def asks_to_forget(text: str) -> bool:
    """Whether users want something deleted that is remembered about them."""
    plain = text.replace("’", "'")
    return bool(_ASKS.match(plain)) or bool(_FORGET_IT.match(plain))


def names_what_to_forget(text: str) -> bool:
    """Whether a request to forget says what: not "forget it", which only ends a subject."""
    return asks_to_forget(text) and not _FORGET_IT.match(text.replace("’", "'"))


def subject_to_forget(words: str) -> str:
    """Returns what a request to forget is about: "I'm vegetarian" of "please forget that I'm vegetarian"."""
    return _REQUEST.sub("", words.replace("’", "'")).strip(" .!")


def means_everything(words: str) -> bool:
    """Whether a request that names nothing asks to forget all that is known about the user."""
    return _ALL.search(words.replace("’", "'")) is not None


def is_confirmed(message: str) -> bool:
    """Whether a message confirms what it asks for: "Yes, forget everything."."""
    return _CONFIRMS.match(message) is not None
