"""What a field of a request is given, by its name: an id, words to look for, or any value that is valid there."""

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
# What is no id although it is called so: where a list goes on, or what only its sender knows.
_NO_ID = frozenset({"request_id", "deletion_id", "last_event_id"})
_CURSOR = "after_"
_SAMPLES = {
    "embedding_model": "all-MiniLM-L6-v2",
    "content_type": "text/plain",
    "time_zone": "UTC",
    "language": "english",
    "deletion_id": "3b0d4d0e-0000-4000-8000-000000000001",
    "relation": "OWNS",
    "relation_type": "OWNS",
    "data": "text",
    "role": "user",
    **dict.fromkeys(("as_of", "from", "to", "since", "valid_at", "invalid_at"), INSTANT),
    "model": "braid",
}
# Set although a request without it breaks no rule of its contract: the service refuses it.
ALWAYS = frozenset({"language"})
NUMBERS = {"dimension": 384}
# Tried in turn where a field takes none of the above.
OTHERS = ("x", "RELATED", "note", "0" * 64, INSTANT, "1")


@dataclass(frozen=True, slots=True)
class Given:
    """What a request is made with: an id for all its ids, and words for its texts and names.

    `second_id` is for what takes two ids.
    """

    id: str
    words: str
    second_id: str = ""

    @property
    def second(self) -> str:
        """Where two ids must differ, the other one: one that nothing has unless another is given."""
        return self.second_id or guess_like(self.id)


def is_id(name: str) -> bool:
    """Whether a field holds ids."""
    if name in _NO_ID or name.startswith(_CURSOR):
        return False
    return _ID.search(name) is not None or name == "seeds"


def is_second_id(name: str) -> bool:
    """Whether an id must be another one than that which the request is about."""
    return name in {"target", "target_id", "other_entity_id"}


def is_words(name: str) -> bool:
    """Whether a field holds words that are looked for, or names of things."""
    return name in _WORDS


def text_for(name: str, given: Given, attempt: int = 0) -> str:
    """A string for a field; with each further attempt another one."""
    if attempt == 0:
        if is_id(name):
            return given.id
        return given.words if is_words(name) else _SAMPLES.get(name, OTHERS[0])
    # An id of one's own making: the same for the same request, and another for each other.
    own = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{given.id} {name}"))
    tried = [_SAMPLES[name], *OTHERS, own] if name in _SAMPLES else [*OTHERS, own]
    return tried[(attempt - 1) % len(tried)]


def guess_like(real: str) -> str:
    """A value of the same shape that names nothing."""
    try:
        uuid.UUID(real)
    except ValueError:
        return re.sub(r"[0-9a-f]{6,}", lambda found: secrets.token_hex(32)[: len(found[0])], real)
    return str(uuid.uuid4())
