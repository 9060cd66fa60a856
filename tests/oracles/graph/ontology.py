"""In-memory ontologies."""

from __future__ import annotations

from services.graph_query.ontology.domain import Ontology, StoredOntology
from services.runtime.errors import WrongStateError

_NONE = StoredOntology(Ontology(), 0)


class FakeOntologies:
    """Implements `OntologyStore` in memory."""

    def __init__(self) -> None:
        self._stored: dict[str, StoredOntology] = {}

    async def ontology(self, space: str) -> StoredOntology:
        """Returns the space's ontology."""
        return self._stored.get(space, _NONE)

    def events(self, space: str) -> frozenset[str]:
        """Returns the keys of the space's relations that are events."""
        return self._stored.get(space, _NONE).ontology.events

    async def put_ontology(self, space: str, ontology: Ontology, expected: int | None) -> int:
        """Replaces the space's ontology."""
        stored = self._stored.get(space, _NONE)
        if expected not in (None, stored.version):
            raise WrongStateError(f"The ontology is of version {stored.version} by now.")
        if stored.version == 0 or stored.ontology != ontology:
            stored = self._stored[space] = StoredOntology(ontology, stored.version + 1)
        return stored.version
