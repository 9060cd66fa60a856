"""Relationships in words, as the user, an answer or a prompt says them."""

from __future__ import annotations

from datetime import UTC, datetime
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
    RelationshipType.LIVES_IN: ("live in", "lives in"),
}
# Of what has ended, whoever the subject is.
_PAST_VERBS: Final = {
    RelationshipType.USES: "used",
    RelationshipType.PREFERS: "preferred",
    RelationshipType.DECIDED: "decided on",
    RelationshipType.WORKS_ON: "worked on",
    RelationshipType.WORKS_WITH: "worked with",
    RelationshipType.KNOWS: "knew",
    RelationshipType.DEPENDS_ON: "depended on",
    RelationshipType.MENTIONED_IN: "had a mention in",
    RelationshipType.PART_OF: "belonged to",
    RelationshipType.LIVES_IN: "lived in",
}


class UserAs(NamedTuple):
    """How the user is called: as a subject, an object and an owner, and whether the verb has the form of "you"."""

    subject: str
    object: str
    owner: str
    plural: bool


I: Final = UserAs("I", "me", "my", plural=True)  # noqa: E741 - the user's own word
YOU: Final = UserAs("you", "you", "your", plural=True)
THE_USER: Final = UserAs("the user", "the user", "the user's", plural=False)


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

    @property
    def role(self) -> str:
        """What the target is to the user; "" if nothing is said of that."""


def clause(one: Said, user: UserAs, *, past: bool = False) -> str:
    """Returns a relationship as a clause, such as "you use DuckDB" or "your boss is Bob"."""
    if one.role and one.source.is_user:
        return f"{user.owner} {one.role} {'was' if past else 'is'} {one.target.name}"
    if past:
        verb = _PAST_VERBS[one.type]
    else:
        plural, singular = _VERBS[one.type]
        verb = plural if one.source.is_user and user.plural else singular
    if user is I and one.source.is_user and verb.startswith("are "):
        verb = f"am {verb.removeprefix('are ')}"
    target = user.object if one.target.is_user else one.target.name
    return f"{user.subject if one.source.is_user else one.source.name} {verb} {target}"


def sentence(one: Said, user: UserAs, *, ended: datetime | None = None) -> str:
    """Returns a relationship as a sentence, such as "You use DuckDB."; names keep their spelling.

    One that has `ended` is told as the past, with the day of its end (UTC).
    """
    said = clause(one, user, past=ended is not None)
    until = f" until {ended.astimezone(UTC):%-d %B %Y}" if ended is not None else ""
    return f"{said[:1].upper() if one.source.is_user else said[:1]}{said[1:]}{until}."
