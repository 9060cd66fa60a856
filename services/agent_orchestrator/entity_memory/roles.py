"""Roles: what somebody or something is to the user, such as the boss of "my boss is Bob"."""

from __future__ import annotations

from typing import Final, Protocol

from services.agent_orchestrator.entity_memory.domain import RelationshipType

# Words for one role. A newer "my manager" replaces an older "my boss".
_SAME: Final = tuple(
    frozenset(words.split(","))
    for words in (
        "boss,manager,supervisor,line manager",
        "mother,mum,mom",
        "father,dad",
        "wife,husband,spouse",
        "girlfriend,boyfriend",
        "fiancé,fiancée",
        "employer,company",
        "laptop,notebook",
    )
)
_SINGLE: Final = frozenset().union(*_SAME[:6]) | {"mentor", "mentee", "coach", "assistant"}
_FAVORITE: Final = ("favourite ", "fav ", "fave ", "preferred ", "go-to ")


def spelled_role(role: str) -> str:
    """Returns a role in one spelling: lower case except for acronyms, and "favorite" for its other words."""
    words = role.replace("_", " ").split()
    spelled = " ".join(word if word.isupper() else word.lower() for word in words)
    for word in _FAVORITE:
        if spelled.startswith(word):
            spelled = f"favorite {spelled.removeprefix(word)}"
    return spelled


def plain_role(role: str) -> str:
    """Returns a role in the spelling in which roles are compared."""
    return spelled_role(role).lower()


def same_roles(role: str) -> list[str]:
    """Returns the words for a role, itself among them."""
    plain = plain_role(role)
    return sorted(next((words for words in _SAME if plain in words), {plain}))


class WithRole(Protocol):
    """Something of a type that may have a role."""

    @property
    def type(self) -> RelationshipType:
        """Its type."""

    @property
    def role(self) -> str:
        """What its target is to the user; "" if nothing is said of that."""


def is_in_place_of(new: WithRole, other: WithRole) -> bool:
    """Whether the first, if it is exclusive, takes the place of the second: of its role, without one of its type."""
    if new.role:
        return plain_role(other.role) in same_roles(new.role)
    return other.type is new.type


def is_single(role: str) -> bool:
    """Whether one person at a time has a role: one boss, but several friends."""
    return plain_role(role) in _SINGLE
