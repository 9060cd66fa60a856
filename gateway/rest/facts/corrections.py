"""`/api/facts/{uuid}`: withdrawing and correcting a fact on the known clock."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from fastapi import APIRouter, Path, Query
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from pydantic import Field
from starlette.responses import Response

from braid.graph.v1 import corrections_pb2
from gateway.rest.facts.requests import end_name
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds, ContractModel
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import (
    Instant,
    JsonObject,
    Text,
    stamp,
    to_struct,
)
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.message_json import respond, to_json
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import ResponseSchema, problems
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/facts", tags=["facts"], responses=problems()
)

FactUuid = Annotated[
    str, Path(description="The fact's uuid.", json_schema_extra={"format": "uuid"})
]
_INGEST = "/braid.graph.v1.GraphIngestService/"
_CORRECTION = {
    "correction": "",
    "fact_id": "uuid",
    "relation_type": "relation",
    "statement": "fact",
    "update_mask": "body",
}
# What the mask names for each field of the body; those of an end are given together.
_MASKED = {
    "subject": "subject",
    "subject_type": "subject",
    "relation": "relation_type",
    "object": "object",
    "object_type": "object",
    "fact": "statement",
    "valid_at": "valid_time",
    "invalid_at": "invalid_time",
    "attributes": "attributes",
}
_NEVER_NULL = frozenset({"subject", "subject_type", "relation", "object", "object_type"})


class WithdrawalOutcome(ResponseSchema):
    """What became of a fact."""

    uuid: str
    outcome: Literal["withdrawn", "already_withdrawn"]
    revision: int


class Correction(ContractModel):
    """The corrected values of a fact; those that are left out stay. At least one is needed."""

    contract: ClassVar[type[Message]] = corrections_pb2.CorrectFactRequest
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "subject": "correction.subject.name",
            "subject_type": "correction.subject.type",
            "object": "correction.object.name",
            "object_type": "correction.object.type",
            "relation": "correction.relation_type",
            "fact": "correction.statement",
        }
    )

    subject: Text | None = Field(default=None, description="Who or what it is said of.")
    subject_type: Text | None = Field(default=None, description="Its type; goes with `subject`.")
    relation: Text | None = Field(default=None, description="The relation's name.")
    object: Text | None = Field(default=None, description="The other end.")
    object_type: Text | None = Field(default=None, description="Its type; goes with `object`.")
    fact: Text | None = Field(
        default=None,
        description="The statement as a sentence; null: made of the three, as by default if one of them changes.",
    )
    valid_at: Instant | None = Field(default=None, description="Since when it holds; null is open.")
    invalid_at: Instant | None = Field(
        default=None, description="First instant at which it no longer holds; null is open."
    )
    attributes: JsonObject | None = Field(
        default=None, description="All attributes: flat values; null is none."
    )
    reason: Text = Field(default="", description="Why; kept with the fact's versions.")
    chunk_id: Text = Field(default="", description="The chunk that gave cause to it.")

    def request(self, uuid: str) -> corrections_pb2.CorrectFactRequest:
        """Converts the body to the contract's request. Raises InvalidFieldError for null where a value is needed."""
        given = self.model_fields_set & _MASKED.keys()
        self._check(given)
        return corrections_pb2.CorrectFactRequest(
            fact_id=uuid,
            correction=self._values(given),
            update_mask=FieldMask(paths=sorted({_MASKED[name] for name in given})),
            reason=self.reason,
            chunk_id=self.chunk_id,
        )

    def _check(self, given: set[str]) -> None:
        wrong = [
            FieldError(name, "must not be null")
            for name in sorted(_NEVER_NULL & given)
            if getattr(self, name) is None
        ]
        wrong += [
            FieldError(f"{end}_type", f"goes with {end} only")
            for end in ("subject", "object")
            if f"{end}_type" in given and end not in given
        ]
        if not given:
            wrong.append(FieldError("body", "must name at least one value to correct"))
        if wrong:
            raise InvalidFieldError(*wrong)

    def _values(self, given: set[str]) -> corrections_pb2.FactCorrection:
        return corrections_pb2.FactCorrection(
            subject=_end(self.subject, self.subject_type) if "subject" in given else None,
            relation_type=self.relation or "",
            object=_end(self.object, self.object_type) if "object" in given else None,
            statement=self.fact or "",
            valid_time=stamp(self.valid_at),
            invalid_time=stamp(self.invalid_at),
            attributes=to_struct(self.attributes),
        )


@router.delete("/{uuid}", response_model=WithdrawalOutcome)
async def withdraw_fact(
    uuid: FactUuid,
    caller: CallerDep,
    clients: ClientsDep,
    reason: Annotated[
        str,
        Bounds(corrections_pb2.WithdrawFactsRequest, "reason"),
        Query(description="Why; kept with the fact's versions."),
    ] = "",
) -> Response:
    """Withdraws a fact: from now on it is not known, until it is stated again. Nothing is erased: as known before, it
    still stands.
    """
    request = corrections_pb2.WithdrawFactsRequest(fact_ids=[uuid], reason=reason)
    method = _INGEST + "WithdrawFacts"
    answer = await caller.call(method, clients.graph_ingest.WithdrawFacts, request, _one_named)
    [one] = answer.withdrawals
    if one.outcome == corrections_pb2.WITHDRAWAL_OUTCOME_NOT_FOUND:
        raise NotFoundError("fact")
    return JsonResponse(to_json(one) | {"revision": answer.space_revision})


@router.patch(
    "/{uuid}", responses=shown(corrections_pb2.CorrectFactResponse), dependencies=[JSON_BODY_ONLY]
)
async def correct_fact(
    uuid: FactUuid, body: Correction, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Corrects a fact: from now on it is known as corrected; as known before, it is what it was. With another subject,
    relation or object it has another uuid; the former one then names it.
    """
    method = _INGEST + "CorrectFact"
    request = body.request(uuid)
    answer = await caller.call(method, clients.graph_ingest.CorrectFact, request, _correction_name)
    return respond(answer)


def _one_named(path: str) -> str:
    return "uuid" if path.startswith("fact_ids") else rest_name(path)


def _correction_name(path: str) -> str:
    return rest_name(end_name(path), _CORRECTION)


def _end(name: str | None, kind: str | None) -> corrections_pb2.EntityCorrection:
    return corrections_pb2.EntityCorrection(name=name or "", type=kind or "")
