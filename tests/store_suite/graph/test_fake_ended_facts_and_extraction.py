"""The in-memory graph fulfills the contracts of endings, extractions and ontologies."""

from __future__ import annotations

import pytest

from services.graph_query.ontology.domain import OntologyStore
from tests.oracles.graph.ontology import FakeOntologies
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.ended_facts_and_extraction_suite import (
    EndingSuite,
    ExtractionSuite,
    Graph,
)
from tests.store_suite.graph.ontology_suite import OntologySuite


@pytest.fixture
def store() -> Graph:
    return FakeGraphStore()


@pytest.fixture
def ontologies() -> OntologyStore:
    return FakeOntologies()


class TestEndings(EndingSuite):
    """Endings in memory."""


class TestExtractions(ExtractionSuite):
    """Extractions in memory."""


class TestOntologies(OntologySuite):
    """Ontologies in memory."""
