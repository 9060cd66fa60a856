"""Neo4j fulfills the contracts of endings, extractions and ontologies."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.neo4j_store import Neo4jStore
from services.graph_query.ontology.domain import OntologyStore
from tests.store_suite.graph.ended_facts_and_extraction_suite import EndingSuite, ExtractionSuite
from tests.store_suite.graph.neo4j_graph import opened
from tests.store_suite.graph.ontology_suite import OntologySuite


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


@pytest.fixture
def ontologies(store: Neo4jStore) -> OntologyStore:
    return store.ontologies


class TestEndings(EndingSuite):
    """Endings in Neo4j."""


class TestExtractions(ExtractionSuite):
    """Extractions in Neo4j."""


class TestOntologies(OntologySuite):
    """Ontologies in Neo4j."""
