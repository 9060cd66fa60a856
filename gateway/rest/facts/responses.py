"""Response schemas of adding and ending facts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from braid.agent.v1 import ingest_pb2
from gateway.rest.graph.fact_responses import StatedFact, fact_list
from gateway.rest.mapping.json_encoding import Json
from gateway.rest.mapping.openapi import ResponseSchema


class RefusedFact(ResponseSchema):
    """A fact that was not taken, by its position from 0."""

    index: int
    reason: str


class FactsTaken(ResponseSchema):
    """What became of given facts, and with a `source` what that no longer states: some of these facts and their number.

    `withdrawn` of them were withdrawn, because of `replace`; the others stand.
    """

    added: int
    unchanged: int
    refused: list[RefusedFact]
    refused_total: int
    missing: list[StatedFact]
    missing_total: int
    withdrawn: int
    first_revision: int = Field(
        description="What the next request needs that states more of the source."
    )


class EndedFact(ResponseSchema):
    """The fact as it is now, and whether the call changed it."""

    fact: StatedFact
    changed: bool
    revision: int


class WithdrawalOutcome(ResponseSchema):
    """What became of a fact."""

    uuid: str
    outcome: Literal["withdrawn", "already_withdrawn"]
    revision: int


class FactOutcome(ResponseSchema):
    """What became of one of several facts."""

    uuid: str
    outcome: Literal["withdrawn", "already_withdrawn", "not_found"]


class WithdrawnFacts(ResponseSchema):
    """What became of facts."""

    facts: list[FactOutcome]
    revision: int


class CorrectedFact(ResponseSchema):
    """The fact as corrected, and whether that changed it; `replaced_uuid` is its former uuid if it has another."""

    fact: StatedFact
    changed: bool
    replaced_uuid: str | None
    revision: int


def facts_taken(answer: ingest_pb2.IngestFactsResponse) -> Json:
    """What became of given facts."""
    return {
        "added": answer.added_count,
        "unchanged": answer.unchanged_count,
        "refused": [{"index": item.index, "reason": item.reason} for item in answer.refused],
        "refused_total": answer.refused_count,
        "missing": fact_list(answer.missing),
        "missing_total": answer.missing_count,
        "withdrawn": answer.withdrawn_count,
        "first_revision": answer.first_revision,
    }
