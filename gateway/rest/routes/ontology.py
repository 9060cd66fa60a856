"""`/api/ontology`: the kinds of things and relations that a space is about."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from braid.graph.v1 import ontology_pb2
from gateway.rest.answers.ontology import OntologyAnswer, OntologyVersion
from gateway.rest.bodies import JSON_ALONE
from gateway.rest.deps import CallerDep, ClientsDep
from gateway.rest.documented import problems
from gateway.rest.fields import rest_name
from gateway.rest.graph.ontology import OntologyBody, shown
from gateway.rest.json import JsonAnswer

router = APIRouter(prefix="/api/ontology", tags=["ontology"], responses=problems())

_SERVICE = "/braid.graph.v1.GraphIngestService/"
_NAMES = {"ontology": "", "expected_version": "version"}


@router.get("", response_model=OntologyAnswer)
async def read(caller: CallerDep, clients: ClientsDep) -> Response:
    """The space's ontology, and its version."""
    request = ontology_pb2.GetOntologyRequest()
    method = _SERVICE + "GetOntology"
    answer = await caller.ask(method, clients.graph_ingest.GetOntology, request)
    return JsonAnswer(shown(answer))


@router.put("", response_model=OntologyVersion, dependencies=[JSON_ALONE])
async def put(body: OntologyBody, caller: CallerDep, clients: ClientsDep) -> Response:
    """Replaces the space's ontology. Facts and entities that are there stay as they are."""
    method = _SERVICE + "PutOntology"
    answer = await caller.ask(method, clients.graph_ingest.PutOntology, body.message(), _name)
    return JsonAnswer({"version": answer.version})


def _name(path: str) -> str:
    return rest_name(path, _NAMES)
