"""`/api/ontology`: the entity and relation types of a space."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict
from starlette.responses import Response

from braid.graph.v1 import ontology_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Contract, ContractModel
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import JsonBool, Text, at_most
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems

# The contract's maximum.
MAX_ENTITY_TYPES = 100
MAX_RELATION_TYPES = 200
MAX_ATTRIBUTES = 30
MAX_ENDPOINTS = 100

AttributeKind = Literal["string", "integer", "number", "boolean"]
_EXAMPLE: JsonDict = {
    "entity_types": [
        {
            "name": "Service",
            "description": "A program that runs on its own.",
            "attributes": [{"name": "language", "kind": "string"}],
        },
        {"name": "Person"},
    ],
    "relation_types": [
        {"name": "OWNS", "endpoints": [{"subject_type": "Person", "object_type": "Service"}]}
    ],
    "strict": False,
}


class AttributeType(ContractModel):
    """Something that is noted of a thing or a fact."""

    contract: ClassVar[Contract] = ontology_pb2.AttributeType

    name: Text = Field(description="Such as role: a letter, then letters, digits or underscores.")
    kind: AttributeKind = Field(description="What its values are.")
    description: Text = Field(default="", description="What it means, for a language model.")

    def message(self) -> ontology_pb2.AttributeType:
        """Converts it to the contract's message."""
        kind = ontology_pb2.AttributeKind.Value(f"ATTRIBUTE_KIND_{self.kind.upper()}")
        return ontology_pb2.AttributeType(name=self.name, kind=kind, description=self.description)


Attributes = Annotated[list[AttributeType], at_most(MAX_ATTRIBUTES)]


class EntityType(ContractModel):
    """A kind of thing."""

    contract: ClassVar[Contract] = ontology_pb2.EntityType

    name: Text = Field(description="A letter, then letters, digits or underscores.")
    description: Text = Field(default="", description="What it stands for, for a language model.")
    attributes: Attributes = Field(default=[], description="What is noted of each, at most 30.")

    def message(self) -> ontology_pb2.EntityType:
        """Converts it to the contract's message."""
        attributes = [one.message() for one in self.attributes]
        return ontology_pb2.EntityType(
            name=self.name, description=self.description, attributes=attributes
        )


class Endpoints(ContractModel):
    """A pair of types that a relation may join; an empty one is any."""

    contract: ClassVar[Contract] = ontology_pb2.RelationEndpoints

    subject_type: Text = Field(default="", description="One of `entity_types`.")
    object_type: Text = Field(default="", description="One of `entity_types`.")

    def message(self) -> ontology_pb2.RelationEndpoints:
        """Converts it to the contract's message."""
        return ontology_pb2.RelationEndpoints(
            subject_type=self.subject_type, object_type=self.object_type
        )


class RelationType(ContractModel):
    """A kind of relation."""

    contract: ClassVar[Contract] = ontology_pb2.RelationType

    name: Text = Field(description="A letter, then letters, digits or underscores.")
    description: Text = Field(default="", description="What it says, for a language model.")
    attributes: Attributes = Field(default=[], description="What is noted of each, at most 30.")
    endpoints: Annotated[list[Endpoints], at_most(MAX_ENDPOINTS)] = Field(
        default=[], description="Between which types it may stand. None: between any."
    )
    event: JsonBool = Field(
        default=False, description="Such facts happen on a day instead of lasting."
    )

    def message(self) -> ontology_pb2.RelationType:
        """Converts it to the contract's message."""
        return ontology_pb2.RelationType(
            name=self.name,
            description=self.description,
            attributes=[one.message() for one in self.attributes],
            endpoints=[one.message() for one in self.endpoints],
            event=self.event,
        )


class OntologyBody(ContractModel):
    """The whole ontology: it replaces the one before. What `GET` answered with can be changed and put back."""

    contract: ClassVar[Contract] = ontology_pb2.Ontology
    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    entity_types: Annotated[list[EntityType], at_most(MAX_ENTITY_TYPES)] = Field(
        default=[], description="Kinds of things, at most 100, names distinct."
    )
    relation_types: Annotated[list[RelationType], at_most(MAX_RELATION_TYPES)] = Field(
        default=[], description="Kinds of relations, at most 200, names distinct."
    )
    strict: JsonBool = Field(
        default=False, description="Only declared relations between the ends that they allow."
    )
    instructions: Text = Field(default="", description="What else a language model is told.")
    version: Annotated[int, Field(strict=True, ge=0, lt=2**63)] | None = Field(
        default=None,
        description="The version that this one replaces: 409 when there is another by now. "
        "Default: whichever there is.",
    )

    def message(self) -> ontology_pb2.PutOntologyRequest:
        """Converts it to the contract's message."""
        ontology = ontology_pb2.Ontology(
            entity_types=[one.message() for one in self.entity_types],
            relation_types=[one.message() for one in self.relation_types],
            strict=self.strict,
            instructions=self.instructions,
        )
        return ontology_pb2.PutOntologyRequest(ontology=ontology, expected_version=self.version)


router = APIRouter(
    route_class=ScopedRoute, prefix="/api/ontology", tags=["ontology"], responses=problems()
)

_INGEST = "/braid.graph.v1.GraphIngestService/"
_QUERY = "/braid.graph.v1.GraphQueryService/"
_NAMES = {"ontology": "", "expected_version": "version"}


@router.get("", responses=shown(ontology_pb2.GetOntologyResponse))
async def get_ontology(caller: CallerDep, clients: ClientsDep) -> Response:
    """The space's ontology, and its version."""
    request = ontology_pb2.GetOntologyRequest()
    method = _QUERY + "GetOntology"
    answer = await caller.call(method, clients.graph.GetOntology, request)
    return respond(answer)


@router.put("", responses=shown(ontology_pb2.PutOntologyResponse), dependencies=[JSON_BODY_ONLY])
async def put_ontology(body: OntologyBody, caller: CallerDep, clients: ClientsDep) -> Response:
    """Replaces the space's ontology. Facts and entities that are there stay as they are."""
    method = _INGEST + "PutOntology"
    answer = await caller.call(method, clients.graph_ingest.PutOntology, body.message(), _name)
    return respond(answer)


def _name(path: str) -> str:
    return rest_name(path, _NAMES)
