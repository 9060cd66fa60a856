"""Maps PostgreSQL rows to entities and relationships, and formats their values for storage."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from services.agent_orchestrator.entity_memory.domain import SELF, EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.records import End, Entity, Provenance, Relationship
from services.models.embedding.vectors import Matrix
from services.postgres.pool import Row


def vector_text(vector: Matrix) -> str:
    """Formats a vector for pgvector."""
    return "[" + ",".join(f"{value:.6g}" for value in vector.tolist()) + "]"


def entity_text(name: str, aliases: Sequence[str], description: str) -> str:
    """Returns the text that is embedded for an entity."""
    named = f"{name} ({', '.join(aliases)})" if aliases else name
    return f"{named}: {description}" if description else named


def entity_of(row: Row) -> Entity:
    """Maps a row to an entity."""
    return Entity(
        id=str(row["id"]),
        name=row["name"],
        canonical_name=row["canonical_name"],
        type=EntityType(row["type"]),
        aliases=tuple(row["aliases"]),
        description=row["description"],
        confidence=row["confidence"],
        mention_count=row["mention_count"],
        first_seen=Provenance(row["first_conversation_id"], row["first_message_id"]),
        last_seen=Provenance(row["last_conversation_id"], row["last_message_id"]),
        create_time=row["create_time"].astimezone(UTC),
        last_mention_time=row["last_mention_time"].astimezone(UTC),
        delete_time=row["delete_time"],
        merged_into=str(row["merged_into"]) if row["merged_into"] else None,
    )


def relationship_of(row: Row) -> Relationship:
    """Maps a row to a relationship with its ends."""
    return Relationship(
        id=str(row["id"]),
        source=_end(row, "source"),
        type=RelationshipType(row["type"]),
        target=_end(row, "target"),
        context=row["context"],
        confidence=row["confidence"],
        mention_count=row["mention_count"],
        first_seen=Provenance(row["first_conversation_id"], row["first_message_id"]),
        last_seen=Provenance(row["last_conversation_id"], row["last_message_id"]),
        create_time=row["create_time"].astimezone(UTC),
        last_mention_time=row["last_mention_time"].astimezone(UTC),
        delete_time=row["delete_time"],
        role=row["role"],
        ended=row["ended"],
    )


def _end(row: Row, side: str) -> End:
    if row[f"{side}_type"] == "self":
        return End(str(row[f"{side}_id"]), SELF, None)
    return End(str(row[f"{side}_id"]), row[f"{side}_name"], EntityType(row[f"{side}_type"]))
