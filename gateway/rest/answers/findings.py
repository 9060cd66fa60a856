"""Findings, intents and outcomes."""

from __future__ import annotations

from typing import Literal

from gateway.rest.answers.graph import EntityEnd, Source
from gateway.rest.answers.searches import FactScores, Leg
from gateway.rest.answers.shape import Shape


class InsightAnswer(Shape):
    """Something found out."""

    key_insight: str
    type: str
    confidence: float | None
    methodology: str


class IntentAnswer(Shape):
    """Something somebody wants to reach."""

    goal: str
    status: str
    priority: Literal["low", "medium", "high", "critical"] | None
    owner: str


class MetricAnswer(Shape):
    """A measured number."""

    name: str
    value: float
    unit: str


class OutcomeAnswer(Shape):
    """What came of something."""

    result: str
    metrics: list[MetricAnswer]
    blockers: list[str]


class FoundFinding(Shape):
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
    scores: FactScores | None


class FindingPage(Shape):
    """Findings, with a query best first, else newest first. `next_cursor` is null at the end and with a query."""

    findings: list[FoundFinding]
    next_cursor: str | None
    legs: list[Leg]
    vector_path: Literal["exact", "index"] | None
    revision: int


class RefusedFinding(Shape):
    """A finding that was not taken, by its position from 0."""

    index: int
    reason: str


class FindingsAdded(Shape):
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
