"""Response schema of a fact, as in every read, and the serialization of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import facts_pb2
from gateway.rest.mapping.json_encoding import Json, struct, time
from gateway.rest.mapping.openapi import ResponseSchema

if TYPE_CHECKING:
    from collections.abc import Iterable


class EntityEnd(ResponseSchema):
    """A fact's endpoint; an unknown type is empty."""

    uuid: str
    name: str
    type: str


class Source(ResponseSchema):
    """Where a fact stands."""

    chunk_id: str
    document_id: str
    document_title: str
    source: str
    quote: str


class Fact(ResponseSchema):
    """A dated edge between two entities; open ends are null.

    An `event` happened on the day of `valid_at` instead of lasting. `local` ones are mentions, not statements: two
    names in a sentence of a document, whose date is `mentioned_at`; `valid_at` and `invalid_at` are null.
    """

    uuid: str
    fact: str
    relation: str
    source_entity: EntityEnd
    target_entity: EntityEnd
    valid_at: str | None
    invalid_at: str | None
    event: bool
    mentioned_at: str | None
    sources: list[Source]
    origin: Literal["given", "extracted", "local", "unspecified"]
    score: float | None


class StatedFact(Fact):
    """A dated fact with its attributes, and when it became known to Braid."""

    attributes: dict[str, Any]
    created_at: str | None


class Facts(ResponseSchema):
    """A page of facts by start (unknown first); `next_cursor` is null at the end."""

    facts: list[StatedFact]
    next_cursor: str | None


def stated_fact(message: facts_pb2.Fact) -> Json:
    """Returns a dated fact with its attributes and the time at which it was stored."""
    return fact(message) | {
        "attributes": struct(message.attributes),
        "created_at": time(message, "create_time"),
    }


def page(answer: Any) -> Json:
    """Returns a page of facts."""
    return {"facts": fact_list(answer.facts), "next_cursor": answer.next_page_token or None}


def fact_list(messages: Iterable[facts_pb2.Fact]) -> list[Json]:
    """Returns dated facts with their attributes."""
    return [stated_fact(one) for one in messages]


_ORIGIN = {v: k.removeprefix("FACT_ORIGIN_").lower() for k, v in facts_pb2.FactOrigin.items()}


def fact(message: facts_pb2.Fact) -> Json:
    """Returns a dated fact with its citations; `score` is null without a search."""
    return {
        "uuid": message.id,
        "fact": message.statement,
        "relation": message.relation_type,
        "source_entity": entity_ref(message.subject),
        "target_entity": entity_ref(message.object),
        "valid_at": time(message, "valid_time"),
        "invalid_at": time(message, "invalid_time"),
        "event": message.event,
        "mentioned_at": time(message, "mention_time"),
        "sources": [citation(source) for source in message.sources],
        "origin": _ORIGIN.get(message.origin, "unspecified"),
        "score": None,
    }


def entity_ref(entity: facts_pb2.EntityRef) -> Json:
    """Returns a fact's endpoint."""
    return {"uuid": entity.id, "name": entity.name, "type": entity.type}


def citation(source: retrieval_pb2.Citation) -> Json:
    """Returns the source of a statement."""
    return {
        "chunk_id": source.chunk_id,
        "document_id": source.document_id,
        "document_title": source.document_title,
        "source": source.source,
        "quote": source.quote,
    }
