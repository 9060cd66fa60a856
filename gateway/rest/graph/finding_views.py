"""Findings as JSON."""

from __future__ import annotations

from braid.graph.v1 import findings_pb2
from gateway.rest import views
from gateway.rest.views import Json, time

_PRIORITY = views.enum_names(findings_pb2.IntentPriority, "INTENT_PRIORITY_")
_ORIGIN = views.enum_names(findings_pb2.FindingOrigin, "FINDING_ORIGIN_")
_PATH = views.enum_names(findings_pb2.FindingVectorPath, "FINDING_VECTOR_PATH_")
_SCORES = ("vector", "text", "vector_rank", "text_rank")


def found(answer: findings_pb2.SearchFindingsResponse, took_ms: float, *, searched: bool) -> Json:
    """A page of findings and how they were looked for; listed ones, which nothing was `searched` for, have no score."""
    leg = views.leg_told("findings", answer.status, answer.reason, took_ms, cached=False)
    return {
        "findings": [_hit(hit, searched=searched) for hit in answer.hits],
        "next_cursor": answer.next_page_token or None,
        "legs": [leg],
        "vector_path": _PATH.get(answer.vector_path),
        "revision": answer.space_revision,
    }


def added(answer: findings_pb2.AddFindingsResponse) -> Json:
    """What became of added findings; `uuids` in their order, null where one was refused."""
    return {
        "uuids": [uuid or None for uuid in answer.uuids],
        "added": answer.added,
        "updated": answer.updated,
        "unchanged": answer.unchanged,
        "refused": [{"index": one.index, "reason": one.reason} for one in answer.refused],
        "without_vector": answer.without_vector,
        "revision": answer.space_revision,
    }


def _hit(hit: findings_pb2.FindingHit, *, searched: bool) -> Json:
    return _finding(hit.finding) | {
        "score": hit.score if searched else None,
        "scores": views.scores(hit.scores, _SCORES) if searched else None,
    }


def _finding(message: findings_pb2.Finding) -> Json:
    kind = message.WhichOneof("details")
    return {
        "uuid": message.uuid,
        "id": message.id,
        "kind": kind,
        "finding": _insight(message.finding) if kind == "finding" else None,
        "intent": _intent(message.intent) if kind == "intent" else None,
        "outcome": _outcome(message.outcome) if kind == "outcome" else None,
        "about_entities": [views.entity_ref(one) for one in message.about_entities],
        "about_findings": list(message.about_finding_uuids),
        "sources": [views.citation(one) for one in message.sources],
        "origin": _ORIGIN.get(message.origin),
        "created_at": time(message, "create_time"),
        "updated_at": time(message, "update_time"),
    }


def _insight(message: findings_pb2.FindingDetails) -> Json:
    return {
        "key_insight": message.key_insight,
        "type": message.type,
        "confidence": message.confidence if message.HasField("confidence") else None,
        "methodology": message.methodology,
    }


def _intent(message: findings_pb2.IntentDetails) -> Json:
    return {
        "goal": message.goal,
        "status": message.status,
        "priority": _PRIORITY.get(message.priority),
        "owner": message.owner,
    }


def _outcome(message: findings_pb2.OutcomeDetails) -> Json:
    return {
        "result": message.result,
        "metrics": [
            {"name": one.name, "value": one.value, "unit": one.unit} for one in message.metrics
        ],
        "blockers": list(message.blockers),
    }
