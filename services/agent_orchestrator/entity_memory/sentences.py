"""Relationships in words, as the user, an answer or a prompt says them."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from services.agent_orchestrator.entity_memory.domain import RelationshipType

# With a plural subject ("you"), and with a singular one.
_VERBS: Final = {
    RelationshipType.USES: ("use", "uses"),
    RelationshipType.PREFERS: ("prefer", "prefers"),
    RelationshipType.DECIDED: ("decided on", "decided on"),
    RelationshipType.WORKS_ON: ("work on", "works on"),
    RelationshipType.WORKS_WITH: ("work with", "works with"),
    RelationshipType.KNOWS: ("know", "knows"),
    RelationshipType.DEPENDS_ON: ("depend on", "depends on"),
    RelationshipType.MENTIONED_IN: ("are mentioned in", "is mentioned in"),
    RelationshipType.PART_OF: ("are part of", "is part of"),
}


class UserAs(NamedTuple):
    """How the user is called: as a subject, as an object, and whether the verb has the form of "you"."""

    subject: str
    object: str
    plural: bool


I: Final = UserAs("I", "me", plural=True)  # noqa: E741 - the user's own word
YOU: Final = UserAs("you", "you", plural=True)
THE_USER: Final = UserAs("the user", "the user", plural=False)


class Named(Protocol):
    """An end of a relationship."""

    @property
    def name(self) -> str:
        """Its name; of no meaning for the user."""

    @property
    def is_user(self) -> bool:
        """Whether it is the user."""


class Said(Protocol):
    """A relationship, stored or to be saved."""

    @property
    def source(self) -> Named:
        """Where it starts."""

    @property
    def type(self) -> RelationshipType:
        """What it says."""

    @property
    def target(self) -> Named:
        """Where it leads."""


def clause(one: Said, user: UserAs) -> str:
    """Returns a relationship as a clause, such as "you use DuckDB"."""
    plural, singular = _VERBS[one.type]
    verb = plural if one.source.is_user and user.plural else singular
    target = user.object if one.target.is_user else one.target.name
    return f"{user.subject if one.source.is_user else one.source.name} {verb} {target}"


def sentence(one: Said, user: UserAs) -> str:
    """Returns a relationship as a sentence, such as "You use DuckDB."; names keep their spelling."""
    said = clause(one, user)
    return f"{said[:1].upper() if one.source.is_user else said[:1]}{said[1:]}."
