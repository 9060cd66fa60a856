"""The RPCs that withdraw and correct facts, and settle what a source states."""

from __future__ import annotations

from google.protobuf.message import Message

from braid.graph.v1 import corrections_pb2
from services.graph_query.core.domain import EntityName
from services.graph_query.core.fact_changes import (
    CorrectedField,
    FactCorrection,
    FactState,
    Outcome,
    Provenance,
    Vector,
)
from services.graph_query.core.names import RESERVED_TYPES, clean_name, clean_relation, relation_key
from services.graph_query.corrections.domain import CorrectionStore
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.servicers import fact_mapping as mapping
from services.graph_query.servicers.ontology import OntologyHandler
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.times import to_datetime

_OUTCOMES = {
    Outcome.WITHDRAWN: corrections_pb2.WITHDRAWAL_OUTCOME_WITHDRAWN,
    Outcome.ALREADY_WITHDRAWN: corrections_pb2.WITHDRAWAL_OUTCOME_ALREADY_WITHDRAWN,
    Outcome.NOT_FOUND: corrections_pb2.WITHDRAWAL_OUTCOME_NOT_FOUND,
}
_FIELDS = {field.value: field for field in CorrectedField}
# What a fact cannot be without.
_REQUIRED = (CorrectedField.SUBJECT, CorrectedField.RELATION, CorrectedField.OBJECT)


class CorrectionHandler:
    """Withdraws and corrects facts of the caller's space, on behalf of the caller's user."""

    def __init__(
        self, store: CorrectionStore, models: SpaceModels, ontologies: OntologyHandler
    ) -> None:
        self._store = store
        self._models = models
        self._ontologies = ontologies

    async def withdraw(
        self, request: corrections_pb2.WithdrawFactsRequest
    ) -> corrections_pb2.WithdrawFactsResponse:
        """Withdraws facts."""
        uuids = list(dict.fromkeys(one.lower() for one in request.fact_ids))
        outcomes, revision = await self._store.withdraw_facts(
            current_call().space, uuids, _provenance(request.reason, request.chunk_id)
        )
        return corrections_pb2.WithdrawFactsResponse(
            withdrawals=[
                corrections_pb2.Withdrawal(fact_id=uuid, outcome=_OUTCOMES[outcomes[uuid]])
                for uuid in uuids
            ],
            space_revision=revision,
        )

    async def correct(
        self, request: corrections_pb2.CorrectFactRequest
    ) -> corrections_pb2.CorrectFactResponse:
        """Corrects a fact."""
        space, uuid = current_call().space, request.fact_id.lower()
        correction = _correction(request)
        state = await self._store.stated(space, uuid)
        corrected = correction.applied(state)
        await self._check(corrected)
        vector = None
        if corrected.statement != state.statement or corrected.identity != state.identity:
            vector = await self._vector(space, corrected.statement)
        by = _provenance(request.reason, request.chunk_id)
        result = await self._store.correct_fact(space, uuid, correction, by, vector)
        return corrections_pb2.CorrectFactResponse(
            fact=mapping.fact(result.fact),
            changed=result.changed,
            replaced_fact_id=result.replaced,
            space_revision=result.revision,
        )

    async def settle(
        self, request: corrections_pb2.SettleFactSourceRequest
    ) -> corrections_pb2.SettleFactSourceResponse:
        """Compares what a source states with what it stated before."""
        by = _provenance("no longer stated by its source", "") if request.withdraw else None
        settled = await self._store.settle_source(
            current_call().space, request.source, request.first_revision, by
        )
        return corrections_pb2.SettleFactSourceResponse(
            missing=[mapping.fact(fact) for fact in settled.missing],
            missing_count=settled.total,
            withdrawn_count=settled.withdrawn,
            space_revision=settled.revision,
        )

    async def _check(self, corrected: FactState) -> None:
        ontology = await self._ontologies.current()
        misfit = ontology.misfit(corrected.relation, corrected.subject.type, corrected.object.type)
        if misfit is not None:
            raise InvalidFieldError(FieldError("correction.relation_type", misfit))

    async def _vector(self, space: str, statement: str) -> Vector | None:
        """Returns the statement's vector; None if the space has none, or its model is not to be had now."""
        embedded = await self._models.embed(space, [statement])
        if embedded is None:
            return None
        return Vector(statement, tuple(embedded.rows[0].tolist()), embedded.model)


def _provenance(reason: str, chunk_id: str) -> Provenance:
    return Provenance(current_call().user, reason.strip(), chunk_id.lower())


def _correction(request: corrections_pb2.CorrectFactRequest) -> FactCorrection:
    """Maps a correction. Raises InvalidFieldError for what a fact cannot be."""
    fields = _fields(request)
    given = request.correction
    _check_required(given, fields)
    try:
        attributes = mapping.attributes(given.attributes)
    except ValueError as refusal:
        raise InvalidFieldError(FieldError("correction.attributes", _predicate(refusal))) from None
    values = FactState(
        _end(given.subject),
        clean_relation(given.relation_type),
        _end(given.object),
        given.statement.strip(),
        to_datetime(given.valid_time) if given.HasField("valid_time") else None,
        to_datetime(given.invalid_time) if given.HasField("invalid_time") else None,
        attributes,
    )
    return FactCorrection(fields, values)


def _fields(request: corrections_pb2.CorrectFactRequest) -> frozenset[CorrectedField]:
    paths = list(request.update_mask.paths)
    if not paths:
        raise InvalidFieldError(FieldError("update_mask", "must name at least one field"))
    unknown = sorted(set(paths) - _FIELDS.keys())
    if unknown:
        names = ", ".join(_FIELDS)
        raise InvalidFieldError(FieldError("update_mask", f"must name only fields among {names}"))
    return frozenset(_FIELDS[path] for path in paths)


def _check_required(given: Message, fields: frozenset[CorrectedField]) -> None:
    wrong = []
    for field in _REQUIRED:
        if field not in fields:
            continue
        value = getattr(given, field.value)
        if field is CorrectedField.RELATION:
            refusal = "" if relation_key(value).strip() else "must not be blank"
        else:
            refusal = "" if value.name.strip() else "must name an entity"
            if value.type in RESERVED_TYPES:
                refusal = "has a type that is a label of the graph's own: choose another one"
        if refusal:
            wrong.append(FieldError(f"correction.{field.value}", refusal))
    if wrong:
        raise InvalidFieldError(*wrong)


def _end(end: corrections_pb2.EntityCorrection) -> EntityName:
    return EntityName(clean_name(end.name), end.type)


def _predicate(refusal: ValueError) -> str:
    return str(refusal).removeprefix("attributes").removeprefix(":").strip()
