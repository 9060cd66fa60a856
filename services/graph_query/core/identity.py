"""Identities of the graph: derived from what a thing is, so that the same graph has the same uuids."""

from __future__ import annotations

from services.graph_query.core.names import relation_key
from services.runtime.ids import derived_uuid


def entity_uuid(space: str, name_key: str, entity_type: str = "") -> str:
    """Uuid of an entity. The first of a name has it without its type; homonyms have it with theirs."""
    parts = ("entity", space, name_key)
    return derived_uuid(*parts, entity_type) if entity_type else derived_uuid(*parts)


def document_uuid(space: str, document_id: str) -> str:
    """Uuid of a document's node."""
    return derived_uuid("document", space, document_id)


def sentence_uuid(space: str, episode: str, ordinal: int) -> str:
    """Uuid of a sentence of an episode, whose own uuid is the caller's choice."""
    return derived_uuid("sentence", space, episode, str(ordinal))


def co_occurrence_uuid(sentence: str, subject: str, target: str) -> str:
    """Uuid of a co-occurrence: its sentence and its two entities."""
    return derived_uuid("co_occurrence", sentence, subject, target)


def fact_uuid(
    space: str,
    ends: tuple[str, str],
    relation: str,
    interval: tuple[float, float],
    statement: str = "",
) -> str:
    """Uuid of a fact: subject and object, relation (as it is compared), interval; its wording if extracted."""
    rows = [repr(float(bound)) for bound in interval]
    worded = [statement] if statement else []
    return derived_uuid("fact", space, *ends, relation_key(relation), *rows, *worded)
