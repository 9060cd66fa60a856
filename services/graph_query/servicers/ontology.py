"""The RPCs about ontologies."""

from __future__ import annotations

from braid.graph.v1 import ontology_pb2
from services.graph_query.ontology.checks import check_ontology
from services.graph_query.ontology.domain import Ontology, OntologyStore
from services.graph_query.servicers import ontology_mapping as mapping
from services.runtime.context import current_call


class OntologyHandler:
    """Reads and replaces the ontology of the caller's space."""

    def __init__(self, store: OntologyStore) -> None:
        self._store = store

    async def current(self) -> Ontology:
        """Returns the ontology itself."""
        return (await self._store.ontology(current_call().space)).ontology

    async def get(self) -> ontology_pb2.GetOntologyResponse:
        """Returns the ontology, an empty one if none was stored."""
        stored = await self._store.ontology(current_call().space)
        return ontology_pb2.GetOntologyResponse(
            ontology=mapping.message_of(stored.ontology), version=stored.version
        )

    async def put(
        self, request: ontology_pb2.PutOntologyRequest
    ) -> ontology_pb2.PutOntologyResponse:
        """Replaces the ontology. Raises InvalidFieldError with every invalid field."""
        wanted = mapping.ontology(request.ontology)
        check_ontology(wanted)
        expected = request.expected_version if request.HasField("expected_version") else None
        version = await self._store.put_ontology(current_call().space, wanted, expected)
        return ontology_pb2.PutOntologyResponse(version=version)
