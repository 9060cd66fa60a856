"""Request bodies of entity memory, and their conversion to messages."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict

from braid.agent.v1 import entity_memory_pb2 as pb
from gateway.rest.mapping.contract_rules import Bounds, Contract, ContractModel
from gateway.rest.mapping.field_types import JsonNumber, JsonPageSize, Text, at_most

# The contract's maximum.
MAX_ALIASES = 20
MAX_TURNS = 50
_SAVE_EXAMPLE: JsonDict = {"name": "PostgreSQL", "type": "tool", "aliases": ["Postgres"]}
_RELATE_EXAMPLE: JsonDict = {
    "type": "USES",
    "target": {"name": "PostgreSQL", "type": "tool"},
    "context": "I use PostgreSQL for the billing data.",
}
_QUERY_EXAMPLE: JsonDict = {"query": "What do I use for the billing data?"}
_TURN_EXAMPLE: JsonDict = {"turns": ["I use PostgreSQL for the billing data."]}


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


EntityTypeName = Annotated[
    Literal["person", "project", "tool", "concept", "organization"], BeforeValidator(_lower)
]
RelationshipTypeName = Annotated[
    Literal[
        "USES",
        "PREFERS",
        "DECIDED",
        "WORKS_ON",
        "WORKS_WITH",
        "KNOWS",
        "DEPENDS_ON",
        "MENTIONED_IN",
        "PART_OF",
    ],
    BeforeValidator(_upper),
]


class SaidAt(ContractModel):
    """Where something was said."""

    contract: ClassVar[Contract] = pb.MemoryProvenance

    conversation_id: Text = Field(default="", description="The conversation.")
    message_id: Text = Field(default="", description="The message.")

    def message(self) -> pb.MemoryProvenance:
        """Converts it to the contract's message."""
        return pb.MemoryProvenance(conversation_id=self.conversation_id, message_id=self.message_id)


class NewMemoryEntity(ContractModel):
    """An entity to save."""

    contract: ClassVar[Contract] = pb.SaveEntityRequest
    model_config = ConfigDict(json_schema_extra={"examples": [_SAVE_EXAMPLE]})

    name: Text = Field(description="Its name.")
    type: EntityTypeName = Field(description="What it is, any case.")
    aliases: Annotated[list[Text], at_most(MAX_ALIASES)] = Field(
        default=[], description="Its other names."
    )
    description: Text = Field(default="", description="What it is, in a sentence.")
    confidence: JsonNumber | None = Field(
        default=None, description="How sure it is, 0–1. Default 0.95."
    )
    provenance: SaidAt | None = Field(default=None, description="Where it was said.")

    def message(self) -> pb.SaveEntityRequest:
        """Converts it to the contract's message."""
        return pb.SaveEntityRequest(
            name=self.name,
            type=entity_type(self.type),
            aliases=self.aliases,
            description=self.description,
            confidence=self.confidence,
            provenance=self.provenance.message() if self.provenance else None,
        )


class RelationshipEnd(ContractModel):
    """An end of a relationship: an entity by id or by name."""

    contract: ClassVar[Contract] = pb.MemoryEndInput

    id: Text = Field(default="", description="An entity by id.")
    name: Text = Field(
        default="", description="An entity by name; it is created where there is none."
    )
    type: EntityTypeName | None = Field(
        default=None, description="What the named entity is, where it may be new."
    )

    def message(self) -> pb.MemoryEndInput:
        """Converts it to the contract's message."""
        return pb.MemoryEndInput(id=self.id, name=self.name, type=entity_type(self.type))


class NewMemoryRelationship(ContractModel):
    """A relationship to save."""

    contract: ClassVar[Contract] = pb.SaveRelationshipRequest
    model_config = ConfigDict(json_schema_extra={"examples": [_RELATE_EXAMPLE]})

    type: RelationshipTypeName = Field(description="What it says, any case.")
    source: RelationshipEnd | None = Field(
        default=None, description="Where it starts. Default: the user."
    )
    target: RelationshipEnd = Field(description="Where it leads.")
    context: Text = Field(default="", description="The words that say it.")
    confidence: JsonNumber | None = Field(
        default=None, description="How sure it is, 0–1. Default 0.95."
    )
    provenance: SaidAt | None = Field(default=None, description="Where it was said.")

    def message(self) -> pb.SaveRelationshipRequest:
        """Converts it to the contract's message."""
        return pb.SaveRelationshipRequest(
            type=relationship_type(self.type),
            source=self.source.message() if self.source else None,
            target=self.target.message(),
            context=self.context,
            confidence=self.confidence,
            provenance=self.provenance.message() if self.provenance else None,
        )


class SaidTurns(ContractModel):
    """Turns of the user, of which the last one is saved."""

    contract: ClassVar[Contract] = pb.SaveTurnRequest
    model_config = ConfigDict(json_schema_extra={"examples": [_TURN_EXAMPLE]})

    turns: Annotated[list[Text], at_most(MAX_TURNS)] = Field(
        description="What the user said, oldest first. The last one is saved."
    )
    provenance: SaidAt | None = Field(default=None, description="Where the last one was said.")

    def message(self) -> pb.SaveTurnRequest:
        """Converts it to the contract's message."""
        return pb.SaveTurnRequest(
            turns=self.turns, provenance=self.provenance.message() if self.provenance else None
        )


class MemoryQuestion(ContractModel):
    """A question about the user's own memory."""

    contract: ClassVar[Contract] = pb.AnswerRelationshipQueryRequest
    model_config = ConfigDict(json_schema_extra={"examples": [_QUERY_EXAMPLE]})

    query: Text = Field(description="The question in plain words.")
    entity_type: EntityTypeName | None = Field(
        default=None, description="Only answers of this type. Default: what the question says."
    )
    relationship_type: RelationshipTypeName | None = Field(
        default=None, description="Only relationships of this type. Default: as above."
    )
    limit: Annotated[
        JsonPageSize | None,
        Bounds(pb.AnswerRelationshipQueryRequest, "page_size"),
    ] = Field(
        default=None, description="How many, up to 200; more counts as 200. Default, and 0: 20."
    )
    cursor: Annotated[Text, Bounds(pb.AnswerRelationshipQueryRequest, "page_token")] = Field(
        default="", description="`next_cursor` of the page before."
    )

    def message(self) -> pb.AnswerRelationshipQueryRequest:
        """Converts it to the contract's message."""
        return pb.AnswerRelationshipQueryRequest(
            query=self.query,
            entity_type=entity_type(self.entity_type),
            relationship_type=relationship_type(self.relationship_type),
            page_size=self.limit or 0,
            page_token=self.cursor,
        )


class NewName(ContractModel):
    """Another name for an entity."""

    contract: ClassVar[Contract] = pb.RenameEntityRequest

    name: Text = Field(description="Its new name; the former one becomes an alias.")


class OtherEntity(ContractModel):
    """An entity that becomes part of another one."""

    contract: ClassVar[Contract] = pb.MergeEntitiesRequest
    other_entity_id: Text = Field(description="Its id.")


def entity_type(name: EntityTypeName | None) -> pb.MemoryEntityType.ValueType:
    """Converts a type to the contract's enum; None is unspecified."""
    return pb.MemoryEntityType.Value(f"MEMORY_ENTITY_TYPE_{(name or 'unspecified').upper()}")


def relationship_type(name: RelationshipTypeName | None) -> pb.MemoryRelationshipType.ValueType:
    """Converts a type to the contract's enum; None is unspecified."""
    return pb.MemoryRelationshipType.Value(f"MEMORY_RELATIONSHIP_TYPE_{name or 'UNSPECIFIED'}")
