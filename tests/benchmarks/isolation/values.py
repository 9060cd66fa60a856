"""Values of request fields by name: an id, words to search for, or any valid value."""

from __future__ import annotations

import re
import secrets
import uuid
from dataclasses import dataclass

INSTANT = "2024-01-01T00:00:00Z"
_ID = re.compile(r"(^|_)(ids?|uuids?)$")
_WORDS = frozenset(
    {
        *("query", "question", "text", "name", "content", "title", "entity", "entity_name"),
        *("source", "target", "subject", "object", "center_entity_name", "context", "statement"),
        *("about", "owner", "description"),
    }
)
# Not ids of things in spite of their names: positions in lists, and ids that the sender chooses.
_NO_ID = frozenset({"request_id", "deletion_id", "last_event_id"})
_CURSOR = "after_"
_SAMPLES = {
    "embedding_model": "bge-small-en-v1.5",
    "content_type": "text/plain",
    "time_zone": "UTC",
    "language": "english",
    "deletion_id": "3b0d4d0e-0000-4000-8000-000000000001",
    "relation": "OWNS",
    "relation_type": "OWNS",
    "data": "text",
    "kind": "documents",
    "role": "user",
    **dict.fromkeys(("as_of", "from", "to", "since", "valid_at", "invalid_at"), INSTANT),
    "model": "braid",
}
# Always set, because the service requires it although the contract's rules do not.
ALWAYS = frozenset({"kind", "language"})
NUMBERS = {"dimension": 384}
# Tried in turn if a field accepts none of the above.
OTHERS = ("x", "RELATED", "note", "0" * 64, INSTANT, "1")


@dataclass(frozen=True, slots=True)
class Given:
    """The values of a request: an id for all its ids, and words for its texts and names.

    `second_id` is for requests with two ids, `space` for those that confirm the caller's own space.
    """

    id: str
    words: str
    second_id: str = ""
    space: str = "own"

    @property
    def second(self) -> str:
        """Returns the other id, for requests whose ids must differ; by default one that does not exist."""
        return self.second_id or guess_like(self.id)


def is_id(name: str) -> bool:
    """Returns whether a field contains ids."""
    if name in _NO_ID or name.startswith(_CURSOR):
        return False
    return _ID.search(name) is not None or name == "seeds"


def is_second_id(name: str) -> bool:
    """Returns whether a field's id must differ from the request's main id."""
    return name in {"target", "target_id", "other_entity_id"}


def is_words(name: str) -> bool:
    """Returns whether a field contains search words or names of things."""
    return name in _WORDS


def text_for(name: str, given: Given, attempt: int = 0) -> str:
    """Returns a string for a field, a different one for each attempt."""
    if attempt == 0:
        if is_id(name):
            return given.id
        if name in {"confirm", "exported_space"}:
            return given.space
        return given.words if is_words(name) else _SAMPLES.get(name, OTHERS[0])
    # A self-made id, which depends only on the request.
    own = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{given.id} {name}"))
    tried = [_SAMPLES[name], *OTHERS, own] if name in _SAMPLES else [*OTHERS, own]
    return tried[(attempt - 1) % len(tried)]


def guess_like(real: str) -> str:
    """Returns a value of the same format that identifies nothing."""
    try:
        uuid.UUID(real)
    except ValueError:
        return re.sub(r"[0-9a-f]{6,}", lambda found: secrets.token_hex(32)[: len(found[0])], real)
    return str(uuid.uuid4())
