"""Ontologies in Neo4j, as text on a node of each space's own."""

from __future__ import annotations

from services.graph_query.neo4j_database import Database, Transaction
from services.graph_query.ontology.domain import Ontology, StoredOntology
from services.graph_query.ontology.text import from_text, to_text
from services.runtime.errors import WrongStateError

_NONE = StoredOntology(Ontology(), 0)


class Neo4jOntologies:
    """`OntologyStore` on Neo4j."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ontology(self, space: str) -> StoredOntology:
        """The space's ontology."""
        rows = await self._database.read("get_ontology", space=space)
        return StoredOntology(from_text(rows[0]["text"]), rows[0]["version"]) if rows else _NONE

    async def put_ontology(self, space: str, ontology: Ontology, expected: int | None) -> int:
        """Replaces the space's ontology in one transaction."""

        async def work(transaction: Transaction) -> int:
            held = (await transaction.run("lock_ontology", space=space))[0]
            if expected not in (None, held["version"]):
                raise WrongStateError(f"The ontology is of version {held['version']} by now.")
            text = to_text(ontology)
            if text == held["text"]:
                return int(held["version"])
            told = {"text": text, "events": sorted(ontology.events)}
            rows = await transaction.run("put_ontology", space=space, **told)
            return int(rows[0]["version"])

        return await self._database.write(work)
