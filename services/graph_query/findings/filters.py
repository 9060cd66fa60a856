"""The contract's filter of findings to the layer's."""

from __future__ import annotations

import math
import sys

from braid.graph.v1 import findings_pb2
from services.graph_query.filter_keys import filter_key
from services.graph_query.findings.domain import (
    Bounds,
    FindingFilter,
    FindingKind,
    FindingOrigin,
    MetricFilter,
    Subject,
)
from services.graph_query.findings.identity import candidates
from services.runtime.times import to_datetime
from services.runtime.unknown_fields import known_alone

_KINDS = {
    findings_pb2.FINDING_KIND_FINDING: FindingKind.FINDING,
    findings_pb2.FINDING_KIND_INTENT: FindingKind.INTENT,
    findings_pb2.FINDING_KIND_OUTCOME: FindingKind.OUTCOME,
}
_ORIGINS = {
    findings_pb2.FINDING_ORIGIN_GIVEN: FindingOrigin.GIVEN,
    findings_pb2.FINDING_ORIGIN_EXTRACTED: FindingOrigin.EXTRACTED,
}
_LARGEST = sys.float_info.max


def finding_filter(space: str, message: findings_pb2.FindingFilter) -> FindingFilter:
    """What findings of a space must satisfy; an unset message nothing.

    InvalidFieldError for white space alone, and for a wish that is not known here.
    """
    known_alone(message, "filter")
    since, until = _span(message)
    references = candidates(space, message.about_finding) if message.about_finding else ()
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
        episode=message.episode_uuid.lower(),
        origin=_ORIGINS.get(message.origin),
        created_from=since,
        created_until=until,
        uuids=_uuids(space, message),
    )


def bounds(message: findings_pb2.NumberRange) -> Bounds:
    """Bounds as the numbers that are just inside of them."""
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
