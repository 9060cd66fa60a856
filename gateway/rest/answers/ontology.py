"""A space's ontology."""

from __future__ import annotations

from typing import Literal

from gateway.rest.answers.shape import Shape


class AttributeTypeAnswer(Shape):
    """Something that is noted of a thing or a fact."""

    name: str
    kind: Literal["string", "integer", "number", "boolean"] | None
    description: str


class EntityTypeAnswer(Shape):
    """A kind of thing."""

    name: str
    description: str
    attributes: list[AttributeTypeAnswer]


class EndpointsAnswer(Shape):
    """A pair of types that a relation may join; an empty one is any."""

    subject_type: str
    object_type: str


class RelationTypeAnswer(EntityTypeAnswer):
    """A kind of relation."""

    endpoints: list[EndpointsAnswer]
    event: bool


class OntologyAnswer(Shape):
    """The whole ontology; empty, with version 0, while none was put."""

    entity_types: list[EntityTypeAnswer]
    relation_types: list[RelationTypeAnswer]
    strict: bool
    instructions: str
    version: int


class OntologyVersion(Shape):
    """The ontology's version; the one before when nothing changed."""

    version: int
