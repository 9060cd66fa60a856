"""Response schemas of findings, and the serialization of messages."""

from __future__ import annotations

from typing import Literal

from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import findings_pb2
from gateway.rest.graph import fact_responses
from gateway.rest.graph.fact_responses import EntityEnd, Source
from gateway.rest.mapping import json_encoding
from gateway.rest.mapping.json_encoding import Json, time
from gateway.rest.mapping.openapi import ResponseSchema
from gateway.rest.search import responses as search_responses
from gateway.rest.search.responses import Leg


class InsightAnswer(ResponseSchema):
    """Something found out."""

    key_insight: str
    type: str
    confidence: float | None
    methodology: str


class IntentAnswer(ResponseSchema):
    """Something somebody wants to reach."""

    goal: str
    status: str
    priority: Literal["low", "medium", "high", "critical"] | None
    owner: str


class MetricAnswer(ResponseSchema):
    """A measured number."""

    name: str
    value: float
    unit: str


class OutcomeAnswer(ResponseSchema):
    """What came of something."""

    result: str
    metrics: list[MetricAnswer]
    blockers: list[str]


class FindingScores(ResponseSchema):
    """How a finding came by its score; null for parts that did not run."""

    vector: float | None
    vector_rank: int | None
    text_rank: int | None


class FoundFinding(ResponseSchema):
    """A finding, intent or outcome, by `kind`: the other two are null. An entity's uuid is empty while none bears the
    name. `score` and `scores` are null where nothing was searched for.
    """

    uuid: str
    id: str
    kind: Literal["finding", "intent", "outcome"]
    finding: InsightAnswer | None
    intent: IntentAnswer | None
    outcome: OutcomeAnswer | None
    about_entities: list[EntityEnd]
    about_findings: list[str]
    sources: list[Source]
    origin: Literal["given", "extracted"] | None
    created_at: str | None
    updated_at: str | None
    score: float | None
    scores: FindingScores | None


class FindingPage(ResponseSchema):
    """Findings, with a query best first, else newest first. `next_cursor` is null at the end and with a query."""

    findings: list[FoundFinding]
    next_cursor: str | None
    legs: list[Leg]
    vector_path: Literal["exact", "index"] | None
    revision: int


class RefusedFinding(ResponseSchema):
    """A finding that was not taken, by its position from 0."""

    index: int
    reason: str


class FindingsAdded(ResponseSchema):
    """What became of the findings; `uuids` in their order, null where one was refused. `without_vector` counts those
    that are found by words and fields only, because the embedder did not answer.
    """

    uuids: list[str | None]
    added: int
    updated: int
    unchanged: int
    refused: list[RefusedFinding]
    without_vector: int
    revision: int


_PRIORITY = json_encoding.enum_names(findings_pb2.IntentPriority, "INTENT_PRIORITY_")
_ORIGIN = json_encoding.enum_names(findings_pb2.FindingOrigin, "FINDING_ORIGIN_")
_PATH = json_encoding.enum_names(retrieval_pb2.VectorPath, "VECTOR_PATH_")
_SCORES = tuple(FindingScores.model_fields)


def found(answer: findings_pb2.SearchFindingsResponse, took_ms: float, *, searched: bool) -> Json:
    """Returns a page of findings and how they were found; without a search (`searched`) they have no score."""
    leg = search_responses.leg_fields(
        "findings", answer.status, answer.reason, took_ms, cached=False
    )
    return {
        "findings": [_hit(hit, searched=searched) for hit in answer.hits],
        "next_cursor": answer.next_page_token or None,
        "legs": [leg],
        "vector_path": _PATH.get(answer.vector_path),
        "revision": answer.space_revision,
    }


def added(answer: findings_pb2.AddFindingsResponse) -> Json:
    """Returns the outcome of adding findings; `uuids` in their order, null for refused ones."""
    return {
        "uuids": [uuid or None for uuid in answer.finding_ids],
        "added": answer.added_count,
        "updated": answer.updated_count,
        "unchanged": answer.unchanged_count,
        "refused": [{"index": one.index, "reason": one.reason} for one in answer.refused],
        "without_vector": answer.without_vector_count,
        "revision": answer.space_revision,
    }


def _hit(hit: findings_pb2.FindingHit, *, searched: bool) -> Json:
    return _finding(hit.finding) | {
        "score": hit.score if searched else None,
        "scores": search_responses.scores(hit.scores, _SCORES) if searched else None,
    }


def _finding(message: findings_pb2.Finding) -> Json:
    kind = message.WhichOneof("details")
    return {
        "uuid": message.id,
        "id": message.external_id,
        "kind": kind,
        "finding": _insight(message.finding) if kind == "finding" else None,
        "intent": _intent(message.intent) if kind == "intent" else None,
        "outcome": _outcome(message.outcome) if kind == "outcome" else None,
        "about_entities": [fact_responses.entity_ref(one) for one in message.about_entities],
        "about_findings": list(message.about_finding_ids),
        "sources": [fact_responses.citation(one) for one in message.sources],
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
