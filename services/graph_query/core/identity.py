"""Uuids derived from content, so that equal graphs have equal uuids."""

from __future__ import annotations

from services.graph_query.core.names import relation_key
from services.runtime.ids import derived_uuid


def entity_uuid(space: str, name_key: str, entity_type: str = "") -> str:
    """Returns the uuid of an entity. A name's first entity has one derived without its type, homonyms one with their
    type.
    """
    parts = ("entity", space, name_key)
    return derived_uuid(*parts, entity_type) if entity_type else derived_uuid(*parts)


def document_uuid(space: str, document_id: str) -> str:
    """Returns the uuid of a document's node."""
    return derived_uuid("document", space, document_id)


def sentence_uuid(space: str, episode: str, ordinal: int) -> str:
    """Returns the uuid of a sentence of an episode. The space is part of it: the caller chooses the episode's uuid."""
    return derived_uuid("sentence", space, episode, str(ordinal))


def co_occurrence_uuid(sentence: str, subject: str, target: str) -> str:
    """Returns the uuid of a co-occurrence from its sentence and its two entities."""
    return derived_uuid("co_occurrence", sentence, subject, target)


def fact_uuid(
    space: str,
    ends: tuple[str, str],
    relation: str,
    interval: tuple[float, float],
    statement: str = "",
) -> str:
    """Returns the uuid of a fact from its ends, relation key and interval; its wording counts if it was extracted."""
    rows = [repr(float(bound)) for bound in interval]
    worded = [statement] if statement else []
    return derived_uuid("fact", space, *ends, relation_key(relation), *rows, *worded)
