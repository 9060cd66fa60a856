"""Names that the graph keeps something of its own under: no type or attribute may have them."""

from __future__ import annotations

from services.graph_query.names import word_set

RESERVED_OF_FACTS = word_set(
    """uuid group_id name relation_key fact fact_embedding episodes created_at expired_at valid_at invalid_at
    reference_time valid_from valid_until origin source_node_uuid target_node_uuid source_uuid
    target_uuid attribute_names attributes stated_at stated_until next_model next_embedding
    braid_known_from braid_cause braid_ended_by braid_ends braid_words"""
)
RESERVED_OF_ENTITIES = word_set(
    """uuid group_id name name_embedding name_source labels created_at summary attributes attribute_names
    next_model next_embedding braid_types braid_types_until"""
)
# Graphiti renames relations that do not fit to the first; the second joins duplicates; the third is the local graph's.
RESERVED_RELATIONS = frozenset({"RELATES_TO", "IS_DUPLICATE_OF", "CO_OCCURS"})
# A type becomes a label of its entity: these are the labels that the graph itself is made of.
RESERVED_TYPES = word_set(
    """BraidDeletion BraidFinding BraidOntology BraidPassage BraidPastClaim BraidPastEnding BraidPastFact BraidSentence
    BraidSource BraidSpace BraidSubject Community Document Entity EntityName Episodic FactClaim FactEnding FactVersion
    Saga"""
)
LONGEST_KEY = 200


def key_refusal(key: str) -> str | None:
    """Why an attribute cannot have this name in the graph; None when it can."""
    if not key.strip():
        return "a name must not be blank"
    if "\0" in key:
        return "a name must not contain NUL"
    if len(key) > LONGEST_KEY:
        return f"a name must have {LONGEST_KEY} characters at most"
    return None
