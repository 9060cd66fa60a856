"""The contract's findings to the layer's words, and back."""

from __future__ import annotations

from braid.common.v1 import legs_pb2
from braid.graph.v1 import findings_pb2
from services.graph_query import mapping
from services.graph_query.domain import EntityName
from services.graph_query.findings.domain import (
    Finding,
    FindingCounts,
    FindingFields,
    FindingKind,
    FindingOrigin,
    GivenFinding,
    Metric,
)
from services.graph_query.findings.searching import FindingAnswer, FoundFinding
from services.graph_query.store import VectorPath
from services.runtime.times import to_timestamp

_ORIGINS = {
    FindingOrigin.GIVEN: findings_pb2.FINDING_ORIGIN_GIVEN,
    FindingOrigin.EXTRACTED: findings_pb2.FINDING_ORIGIN_EXTRACTED,
}
_PATHS = {
    None: findings_pb2.FINDING_VECTOR_PATH_UNSPECIFIED,
    VectorPath.EXACT: findings_pb2.FINDING_VECTOR_PATH_EXACT,
    VectorPath.INDEX: findings_pb2.FINDING_VECTOR_PATH_INDEX,
}


def given_finding(message: findings_pb2.FindingInput) -> GivenFinding:
    """A finding to add."""
    return GivenFinding(
        fields=_fields(message),
        id=message.id,
        about=tuple(EntityName(one.name, one.type) for one in message.about_entities),
        about_findings=tuple(message.about_findings),
        episodes=tuple(sorted({uuid.lower() for uuid in message.episode_uuids})),
        embedding=tuple(message.embedding),
    )


def counts(found: FindingCounts) -> findings_pb2.AddFindingsResponse:
    """What became of given findings."""
    return findings_pb2.AddFindingsResponse(
        uuids=found.uuids,
        added=found.added,
        updated=found.updated,
        unchanged=found.unchanged,
        refused=[
            findings_pb2.RefusedFinding(index=index, reason=reason)
            for index, reason in found.refused
        ],
        without_vector=found.without_vector,
        space_revision=found.revision,
    )


def answer(found: FindingAnswer, next_page_token: str) -> findings_pb2.SearchFindingsResponse:
    """What a search found and how it went."""
    status = legs_pb2.LEG_STATUS_OK if found.hits else legs_pb2.LEG_STATUS_NO_MATCH
    reason = legs_pb2.LEG_REASON_UNSPECIFIED
    if found.shortfall is not None:
        status, reason = legs_pb2.LEG_STATUS_DEGRADED, mapping.SHORTFALLS[found.shortfall]
    return findings_pb2.SearchFindingsResponse(
        hits=[_hit(one) for one in found.hits],
        status=status,
        reason=reason,
        vector_path=_PATHS[found.path],
        next_page_token=next_page_token,
        space_revision=found.revision,
    )


def finding(one: Finding) -> findings_pb2.Finding:
    """A finding with what it is linked to."""
    message = findings_pb2.Finding(
        uuid=one.uuid,
        id=one.id,
        about_entities=[mapping.entity_ref(end) for end in one.about],
        about_finding_uuids=one.about_findings,
        sources=[mapping.citation(cited) for cited in one.citations],
        origin=_ORIGINS[one.origin],
        create_time=to_timestamp(one.created_at),
        update_time=to_timestamp(one.updated_at),
    )
    _put_fields(message, one.fields)
    return message


def _fields(message: findings_pb2.FindingInput) -> FindingFields:
    if message.HasField("finding"):
        return _as_finding(message.finding)
    if message.HasField("intent"):
        intent = message.intent
        return FindingFields(
            FindingKind.INTENT,
            intent.goal.strip(),
            status=intent.status.strip(),
            priority=intent.priority,
            owner=intent.owner.strip(),
        )
    outcome = message.outcome
    return FindingFields(
        FindingKind.OUTCOME,
        outcome.result.strip(),
        metrics=tuple(Metric(one.name, one.value, one.unit) for one in outcome.metrics),
        blockers=tuple(outcome.blockers),
    )


def _as_finding(told: findings_pb2.FindingDetails) -> FindingFields:
    return FindingFields(
        FindingKind.FINDING,
        told.key_insight.strip(),
        type=told.type.strip(),
        confidence=told.confidence if told.HasField("confidence") else None,
        methodology=told.methodology.strip(),
    )


def _put_fields(message: findings_pb2.Finding, told: FindingFields) -> None:
    if told.kind is FindingKind.FINDING:
        message.finding.key_insight = told.statement
        message.finding.type = told.type
        message.finding.methodology = told.methodology
        if told.confidence is not None:
            message.finding.confidence = told.confidence
    elif told.kind is FindingKind.INTENT:
        message.intent.goal = told.statement
        message.intent.status = told.status
        message.intent.priority = findings_pb2.IntentPriority.ValueType(told.priority)
        message.intent.owner = told.owner
    else:
        message.outcome.result = told.statement
        message.outcome.blockers.extend(told.blockers)
        for name, value, unit in told.metrics:
            message.outcome.metrics.add(name=name, value=value, unit=unit)


def _hit(one: FoundFinding) -> findings_pb2.FindingHit:
    return findings_pb2.FindingHit(
        finding=finding(one.finding), score=one.scores.fused, scores=mapping.scores(one.scores)
    )
