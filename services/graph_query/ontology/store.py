"""What is asked of a store of ontologies."""

from __future__ import annotations

from typing import Protocol

from services.graph_query.ontology.domain import Ontology, StoredOntology


class OntologyStore(Protocol):
    """Each space's ontology. Raises StoreUnavailableError and DeadlineError as `GraphStore` says."""

    async def ontology(self, space: str) -> StoredOntology:
        """The space's ontology, an empty one while none was put."""

    async def put_ontology(self, space: str, ontology: Ontology, expected: int | None) -> int:
        """Replaces the space's ontology; its version. The same one again changes nothing.

        WrongStateError when `expected` is told and the version is another by now.
        """
