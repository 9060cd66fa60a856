"""`/api/facts`, read and ended: lists as of any time, one fact with its versions, and its end."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from braid.graph.v1 import ingest_pb2, structure_pb2
from braid.graph.v1.entities_pb2 import EntitySelector
from gateway.rest.answers.history import EndedFact, FactAndVersions, Facts
from gateway.rest.bodies import JSON_ALONE
from gateway.rest.bounds import Bounds
from gateway.rest.deps import CallerDep, ClientsDep
from gateway.rest.documented import problems
from gateway.rest.graph import facts
from gateway.rest.graph.parameters import (
    AsOf,
    Cursor,
    EntityType,
    EntityUuid,
    KnownAt,
    PageLimit,
    Relation,
    entity_selector,
    graph_name,
)
from gateway.rest.graph.times import time_selector
from gateway.rest.json import JsonAnswer
from gateway.rest.values import Body, Instant, stamp

router = APIRouter(prefix="/api/facts", tags=["facts"], responses=problems())

_QUERY = "/braid.graph.v1.GraphQueryService/"
_INGEST = "/braid.graph.v1.GraphIngestService/"
FactUuid = Annotated[
    str, Path(description="The fact's uuid.", json_schema_extra={"format": "uuid"})
]


class End(Body):
    """When a fact ends."""

    invalid_at: Instant = Field(
        description="First instant at which it no longer holds; after `valid_at`.",
        examples=["2024-06-10"],
    )


@router.get("", response_model=Facts)
async def listing(  # noqa: PLR0917 - FastAPI names them all
    caller: CallerDep,
    clients: ClientsDep,
    subject: Annotated[
        str | None,
        Bounds(EntitySelector, "name"),
        Query(
            description="Only facts said of this entity: its name, any case.",
            examples=["Jonas Weber"],
        ),
    ] = None,
    subject_type: EntityType = None,
    subject_uuid: EntityUuid = None,
    relation: Relation = "",
    object_name: Annotated[
        str | None,
        Bounds(EntitySelector, "name"),
        Query(
            alias="object",
            description="Only facts with this entity at the other end.",
            examples=["Ledger Service"],
        ),
    ] = None,
    object_type: EntityType = None,
    object_uuid: EntityUuid = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: PageLimit = None,
    cursor: Cursor = "",
) -> Response:
    """Stated facts by subject, relation, object and time, in pages that stay stable while others write. Those of now;
    `as_of=../..` is all time.
    """
    request = structure_pb2.ListFactsRequest(
        subject=entity_selector("subject", subject, subject_type, subject_uuid),
        relation_type=relation,
        object=entity_selector("object", object_name, object_type, object_uuid),
        as_of=time_selector(as_of),
        known_time=stamp(known_at),
        page_size=limit,
        page_token=cursor,
    )
    answer = await caller.ask(_QUERY + "ListFacts", clients.graph.ListFacts, request, graph_name())
    return JsonAnswer(facts.page(answer))


@router.get("/{uuid}", response_model=FactAndVersions)
async def read(uuid: FactUuid, caller: CallerDep, clients: ClientsDep) -> Response:
    """A fact, and all that was ever known of it: at most the last 1,000 versions."""
    request = structure_pb2.GetFactRequest(uuid=uuid)
    answer = await caller.ask(_QUERY + "GetFact", clients.graph.GetFact, request, graph_name())
    return JsonAnswer(facts.fact_and_versions(answer))


@router.post("/{uuid}/end", response_model=EndedFact, dependencies=[JSON_ALONE])
async def end(uuid: FactUuid, body: End, caller: CallerDep, clients: ClientsDep) -> Response:
    """Ends a fact at a time; what was known before stays on record. Again with another time it is a correction."""
    request = ingest_pb2.EndFactRequest(fact_uuid=uuid, invalid_time=stamp(body.invalid_at))
    method = _INGEST + "EndFact"
    answer = await caller.ask(method, clients.graph_ingest.EndFact, request, graph_name())
    shown = facts.stated_fact(answer.fact)
    return JsonAnswer({"fact": shown, "changed": answer.changed, "revision": answer.space_revision})
