"""Response schemas of uploads, whose answers the gateway puts together."""

from __future__ import annotations

from typing import Annotated

from braid.graph.v1 import facts_pb2
from gateway.rest.jobs import JobShape
from gateway.rest.mapping.json_encoding import Json
from gateway.rest.mapping.message_schema import Shape
from gateway.rest.mapping.openapi import FieldProblem, ResponseSchema


class RefusedLine(ResponseSchema):
    """A fact that was not taken: the place of its file among the request's, from 0, and its line, from 1."""

    file: int
    line: int
    reason: str


class MissingFact(ResponseSchema):
    """A fact that a file stated before and does not state now: the file's place among the request's, from 0."""

    file: int
    fact: Annotated[Json, Shape(facts_pb2.Fact)]


class FactsOfFiles(ResponseSchema):
    """What became of the facts that files of JSON lines hold, and what the files no longer state.

    `missing` lists some of the latter, `missing_total` is their number. `withdrawn` of them were withdrawn, because of
    `replace`; the others stand.
    """

    added: int
    unchanged: int
    refused: list[RefusedLine]
    refused_total: int
    missing: list[MissingFact]
    missing_total: int
    withdrawn: int


class FactsAccepted(ResponseSchema):
    """An upload of files with nothing but facts: there is no job, the facts are already in the graph."""

    facts: FactsOfFiles


class Accepted(ResponseSchema):
    """The jobs of an upload, one a file with documents; `job` is the first. `facts` is there where files hold any."""

    job: JobShape
    jobs: list[JobShape]
    facts: FactsOfFiles | None = None


class PartlyAccepted(Accepted):
    """The jobs of the files that were taken, and what is wrong with the others: nothing of those was stored."""

    refused: list[FieldProblem]
