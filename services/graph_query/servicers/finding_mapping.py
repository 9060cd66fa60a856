"""Maps findings and their filters between messages and the domain."""

from __future__ import annotations

import math
import sys

from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import findings_pb2
from services.graph_query.core.domain import EntityName
from services.graph_query.core.names import filter_key
from services.graph_query.core.store import VectorPath
from services.graph_query.findings.domain import (
    Bounds,
    Finding,
    FindingCounts,
    FindingFields,
    FindingFilter,
    FindingKind,
    FindingOrigin,
    GivenFinding,
    Metric,
    MetricFilter,
    Subject,
    candidates,
)
from services.graph_query.findings.search import FindingAnswer, FoundFinding
from services.graph_query.servicers import fact_mapping as mapping
from services.runtime.leg_reports import found_or_not, leg_report
from services.runtime.times import to_datetime, to_timestamp
from services.runtime.unknown_fields import reject_unknown_fields

_KINDS = {
    findings_pb2.FINDING_KIND_FINDING: FindingKind.FINDING,
    findings_pb2.FINDING_KIND_INTENT: FindingKind.INTENT,
    findings_pb2.FINDING_KIND_OUTCOME: FindingKind.OUTCOME,
}


_ORIGIN_FILTERS = {
    findings_pb2.FINDING_ORIGIN_GIVEN: FindingOrigin.GIVEN,
    findings_pb2.FINDING_ORIGIN_EXTRACTED: FindingOrigin.EXTRACTED,
}


_LARGEST = sys.float_info.max


def finding_filter(space: str, message: findings_pb2.FindingFilter) -> FindingFilter:
    """Maps a filter of findings; an unset message filters nothing.

    Raises InvalidFieldError for white space alone, and for fields unknown to this process.
    """
    reject_unknown_fields(message, "filter")
    since, until = _span(message)
    references = candidates(space, message.about_finding_id) if message.about_finding_id else ()
    return FindingFilter(
        kinds=frozenset(_KINDS[kind] for kind in message.kinds),
        type=filter_key(message.type, "filter.type"),
        confidence=bounds(message.confidence) if message.HasField("confidence") else None,
        methodology=filter_key(message.methodology, "filter.methodology"),
        status=filter_key(message.status, "filter.status"),
        priorities=frozenset(message.priorities),
        owner=filter_key(message.owner, "filter.owner"),
        metric=_metric(message),
        blocker=filter_key(message.blocker, "filter.blocker"),
        has_blockers=message.has_blockers if message.HasField("has_blockers") else None,
        about=_about(message),
        about_findings=references,
        episode=message.chunk_id.lower(),
        origin=_ORIGIN_FILTERS.get(message.origin),
        created_from=since,
        created_until=until,
        uuids=_uuids(space, message),
    )


def bounds(message: findings_pb2.NumberRange) -> Bounds:
    """Maps bounds to inclusive ones: an exclusive bound becomes the nearest number inside it."""
    lows, highs = [-_LARGEST], [_LARGEST]
    if message.HasField("greater_than"):
        lows.append(math.nextafter(message.greater_than, math.inf))
    if message.HasField("at_least"):
        lows.append(message.at_least)
    if message.HasField("less_than"):
        highs.append(math.nextafter(message.less_than, -math.inf))
    if message.HasField("at_most"):
        highs.append(message.at_most)
    return Bounds(max(lows), min(highs))


def _metric(message: findings_pb2.FindingFilter) -> MetricFilter | None:
    if not message.HasField("metric"):
        return None
    key = filter_key(message.metric.name, "filter.metric.name")
    return MetricFilter(key, bounds(message.metric.value))


def _about(message: findings_pb2.FindingFilter) -> Subject | None:
    if not message.HasField("about_entity"):
        return None
    key = filter_key(message.about_entity.name, "filter.about_entity.name")
    return Subject(key, message.about_entity.type)


def _uuids(space: str, message: findings_pb2.FindingFilter) -> tuple[str, ...] | None:
    if not message.ids:
        return None
    return tuple(sorted({uuid for one in message.ids for uuid in candidates(space, one)}))


def _span(message: findings_pb2.FindingFilter) -> tuple[float | None, float | None]:
    span = message.create_time
    since = to_datetime(span.start_time).timestamp() if span.HasField("start_time") else None
    until = to_datetime(span.end_time).timestamp() if span.HasField("end_time") else None
    return since, until


_ORIGINS = {
    FindingOrigin.GIVEN: findings_pb2.FINDING_ORIGIN_GIVEN,
    FindingOrigin.EXTRACTED: findings_pb2.FINDING_ORIGIN_EXTRACTED,
}


_PATHS = {
    None: retrieval_pb2.VECTOR_PATH_UNSPECIFIED,
    VectorPath.EXACT: retrieval_pb2.VECTOR_PATH_EXACT,
    VectorPath.INDEX: retrieval_pb2.VECTOR_PATH_INDEX,
}


def finding_input(message: findings_pb2.FindingInput) -> GivenFinding:
    """Maps a finding to add."""
    return GivenFinding(
        fields=_fields(message),
        id=message.external_id,
        about=tuple(EntityName(one.name, one.type) for one in message.about_entities),
        about_findings=tuple(message.about_finding_ids),
        episodes=tuple(sorted({uuid.lower() for uuid in message.chunk_ids})),
        embedding=tuple(message.embedding),
    )


def counts(found: FindingCounts) -> findings_pb2.AddFindingsResponse:
    """Maps the result of adding findings."""
    return findings_pb2.AddFindingsResponse(
        finding_ids=found.uuids,
        added_count=found.added,
        updated_count=found.updated,
        unchanged_count=found.unchanged,
        refused=[
            findings_pb2.RefusedFinding(index=index, reason=reason)
            for index, reason in found.refused
        ],
        without_vector_count=found.without_vector,
        space_revision=found.revision,
    )


def answer(
    found: FindingAnswer, next_page_token: str, started: int
) -> findings_pb2.SearchFindingsResponse:
    """Maps the result of a search that began at `started` (of `time.perf_counter_ns`)."""
    end = found_or_not(len(found.hits))
    if found.shortfall is not None:
        end = legs_pb2.LEG_STATUS_DEGRADED, mapping.SHORTFALLS[found.shortfall]
    return findings_pb2.SearchFindingsResponse(
        hits=[_hit(one) for one in found.hits],
        leg=leg_report(legs_pb2.LEG_FINDINGS, end, started, len(found.hits)),
        vector_path=_PATHS[found.path],
        next_page_token=next_page_token,
        space_revision=found.revision,
    )


def finding(one: Finding) -> findings_pb2.Finding:
    """Maps a finding with its links."""
    message = findings_pb2.Finding(
        id=one.uuid,
        external_id=one.id,
        about_entities=[mapping.entity_ref(end) for end in one.about],
        about_finding_ids=one.about_findings,
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


def _as_finding(value: findings_pb2.FindingDetails) -> FindingFields:
    return FindingFields(
        FindingKind.FINDING,
        value.key_insight.strip(),
        type=value.type.strip(),
        confidence=value.confidence if value.HasField("confidence") else None,
        methodology=value.methodology.strip(),
    )


def _put_fields(message: findings_pb2.Finding, item: FindingFields) -> None:
    if item.kind is FindingKind.FINDING:
        message.finding.key_insight = item.statement
        message.finding.type = item.type
        message.finding.methodology = item.methodology
        if item.confidence is not None:
            message.finding.confidence = item.confidence
    elif item.kind is FindingKind.INTENT:
        message.intent.goal = item.statement
        message.intent.status = item.status
        message.intent.priority = findings_pb2.IntentPriority.ValueType(item.priority)
        message.intent.owner = item.owner
    else:
        message.outcome.result = item.statement
        message.outcome.blockers.extend(item.blockers)
        for name, value, unit in item.metrics:
            message.outcome.metrics.add(name=name, value=value, unit=unit)


def _hit(one: FoundFinding) -> findings_pb2.FindingHit:
    searched = one.scores.fused > 0
    return findings_pb2.FindingHit(
        finding=finding(one.finding),
        score=one.scores.fused,
        scores=mapping.scores(one.scores) if searched else None,
    )
