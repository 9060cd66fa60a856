"""Maps entities, paths and subgraphs to the contract's messages."""

from __future__ import annotations

from braid.graph.v1 import entities_pb2, structure_pb2
from services.graph_query.entities.domain import (
    EntityDetails,
    Path,
    Subgraph,
    SubgraphEntity,
    SubgraphEpisode,
    Titled,
)
from services.graph_query.entities.linking import Place
from services.graph_query.local_extraction.extract import MentionKind
from services.graph_query.servicers import fact_mapping as mapping
from services.runtime.times import to_timestamp

_KINDS = {
    MentionKind.PHRASE: structure_pb2.MENTION_KIND_PHRASE,
    MentionKind.NAME: structure_pb2.MENTION_KIND_NAME,
    MentionKind.ABOUT: structure_pb2.MENTION_KIND_ABOUT,
}


def details(one: EntityDetails) -> entities_pb2.EntityDetails:
    """Maps an entity with its details."""
    return entities_pb2.EntityDetails(
        entity=mapping.entity(one.entity),
        aliases=one.aliases,
        fact_count=one.facts,
        first_seen_time=None if one.first_seen is None else to_timestamp(one.first_seen),
    )


def linked(place: Place, found: Titled) -> entities_pb2.LinkedEntity:
    """Maps an entity at its position in a text."""
    return entities_pb2.LinkedEntity(
        entity=mapping.entity(found.entity),
        text=place.text,
        start=place.start,
        end=place.end,
        titled=found.titled,
    )


def path(one: Path) -> structure_pb2.Path:
    """Maps a path between two entities."""
    return structure_pb2.Path(
        nodes=[mapping.entity_ref(node) for node in one.nodes],
        facts=[mapping.fact(fact) for fact in one.facts],
    )


def subgraph(found: Subgraph) -> structure_pb2.GetMentionSubgraphResponse:
    """Maps chunks, entities and mentions; mentions refer to the others by position."""
    episodes = {one.uuid: place for place, one in enumerate(found.episodes)}
    entities = {one.ref.uuid: place for place, one in enumerate(found.entities)}
    return structure_pb2.GetMentionSubgraphResponse(
        episodes=[_episode(one) for one in found.episodes],
        entities=[_entity(one) for one in found.entities],
        mentions=[
            structure_pb2.SubgraphMention(
                episode=episodes[one.episode],
                entity=entities[one.entity],
                kind=_KINDS[MentionKind(one.kind)],
                sentences=one.sentences,
            )
            for one in found.mentions
        ],
        truncated=found.truncated,
        statements=[
            structure_pb2.SubgraphStatement(
                episode=episodes[one.episode],
                entity=entities[one.entity],
                relation_type=one.relation,
                fact_id=one.fact,
            )
            for one in found.statements
        ],
    )


def _episode(one: SubgraphEpisode) -> structure_pb2.SubgraphEpisode:
    return structure_pb2.SubgraphEpisode(
        chunk_id=one.uuid, document_id=one.document_id, document_title=one.title, seed=one.seed
    )


def _entity(one: SubgraphEntity) -> structure_pb2.SubgraphEntity:
    return structure_pb2.SubgraphEntity(
        id=one.ref.uuid,
        name=one.ref.name,
        type=one.ref.type,
        mention_count=one.frequency,
        titled=one.titled,
    )
