"""Response schemas of adding and ending facts."""

from __future__ import annotations

from braid.agent.v1 import ingest_pb2
from gateway.rest.graph.fact_responses import StatedFact
from gateway.rest.mapping.json_encoding import Json
from gateway.rest.mapping.openapi import ResponseSchema


class RefusedFact(ResponseSchema):
    """A fact that was not taken, by its position from 0."""

    index: int
    reason: str


class FactsTaken(ResponseSchema):
    """What became of given facts."""

    added: int
    unchanged: int
    refused: list[RefusedFact]
    refused_total: int


class EndedFact(ResponseSchema):
    """The fact as it is now, and whether the call changed it."""

    fact: StatedFact
    changed: bool
    revision: int


def facts_taken(answer: ingest_pb2.IngestFactsResponse) -> Json:
    """What became of given facts."""
    return {
        "added": answer.added_count,
        "unchanged": answer.unchanged_count,
        "refused": [{"index": item.index, "reason": item.reason} for item in answer.refused],
        "refused_total": answer.refused_count,
    }
