"""Whether words stand in a user's own message: only those are remembered as what the user said."""

from __future__ import annotations

from services.agent_orchestrator.entity_memory.names import folded_text
from services.agent_orchestrator.entity_memory.records import NewEntity


def stated_by_user(new: NewEntity, message: str) -> NewEntity:
    """Returns the entity without aliases and a description that do not stand in the message."""
    folded = folded_text(message)
    return new._replace(
        aliases=tuple(alias for alias in new.aliases if _stands_in(folded, alias)),
        description=new.description if _stands_in(folded, new.description) else "",
    )


def stands_in(message: str, words: str) -> bool:
    """Whether the words stand in the message, apart from letter case, accents, punctuation and white space."""
    return _stands_in(folded_text(message), words)


def _stands_in(folded_message: str, words: str) -> bool:
    folded = folded_text(words)
    if not folded:
        # Nothing but punctuation: it stands there or it does not.
        return not words.strip()
    start = folded_message.find(folded)
    while start >= 0:
        end = start + len(folded)
        if _is_bound(folded_message, start) and _is_bound(folded_message, end):
            return True
        start = folded_message.find(folded, start + 1)
    return False


def _is_bound(text: str, place: int) -> bool:
    """Whether a word may begin or end at a place: not between two Latin letters or digits."""
    around = text[max(0, place - 1) : place + 1]
    return len(around) < 2 or not (around.isascii() and around.isalnum())  # noqa: PLR2004 - the characters around it
