"""Entity descriptions by episodes (names, types, summaries, attributes), within one write to a space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.graph_query.core.domain import DescribedEntity, EntityName, Scalar
from services.graph_query.core.entity_resolution import Resolution
from services.graph_query.core.fact_batch import normalized_entity_name
from services.graph_query.core.names import RESERVED_OF_ENTITIES
from services.graph_query.neo4j.space_writer import SpaceWriter
from services.runtime.ids import derived_uuid


@dataclass(frozen=True, slots=True)
class EpisodeDescriptions:
    """The entities that an episode describes."""

    episode: str
    entities: Sequence[DescribedEntity]

    def names(self) -> list[EntityName]:
        """Returns their names and types."""
        return [normalized_entity_name(entity.name) for entity in self.entities]


NOTHING = EpisodeDescriptions("", ())


async def describe(
    writer: SpaceWriter, found: Resolution, described: EpisodeDescriptions, model: str
) -> None:
    """Stores an episode's descriptions of entities and shows the latest description of each."""
    entities = {
        found.uuid(normalized_entity_name(one.name)): one for one in reversed(described.entities)
    }
    if not entities:
        return
    rows = [_row(described.episode, uuid, one) for uuid, one in sorted(entities.items())]
    await writer.write("create_descriptions", episode=described.episode, rows=rows, now=writer.now)
    await refresh_descriptions(writer, entities)
    vectors = [
        {"uuid": uuid, "vector": list(one.embedding)}
        for uuid, one in sorted(entities.items())
        if one.embedding
    ]
    if vectors:
        await writer.write("set_name_vectors", rows=vectors)
        length = len(vectors[0]["vector"])
        await writer.write("change_vectors", change=0, model=model, dimension=length)


async def refresh_descriptions(writer: SpaceWriter, entities: Collection[str]) -> None:
    """Shows the latest description of each entity by any episode, or none."""
    if entities:
        await writer.write("refresh_descriptions", uuids=sorted(entities))


async def remove_descriptions(
    writer: SpaceWriter, episodes: Sequence[str]
) -> set[tuple[str, EntityName]]:
    """Removes episodes' descriptions of entities; returns these entities by uuid with the names that the episodes used.

    Later descriptions of the same entities are cleared too: the model wrote them with the removed ones in its prompt.
    """
    rows = await writer.read("take_descriptions", episodes=sorted(episodes))
    await refresh_descriptions(writer, {row["uuid"] for row in rows})
    return {(row["uuid"], EntityName(row["name"], row["type"])) for row in rows}


def _row(episode: str, uuid: str, entity: DescribedEntity) -> dict[str, Any]:
    attributes = allowed_attributes(entity.attributes)
    name = normalized_entity_name(entity.name)
    return {
        "uuid": uuid,
        "mention": derived_uuid("mention", episode, uuid),
        "name": name.name,
        "type": name.type,
        "summary": entity.summary,
        "names": list(attributes),
        "values": list(attributes.values()),
    }


def allowed_attributes(attributes: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Returns the attributes without those whose names are reserved in the graph."""
    return {key: attributes[key] for key in sorted(attributes) if key not in RESERVED_OF_ENTITIES}
