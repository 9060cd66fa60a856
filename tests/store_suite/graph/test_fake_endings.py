"""Endings, readings and ontologies in memory."""

from __future__ import annotations

import pytest

from services.graph_query.fake import FakeGraphStore
from services.graph_query.ontology.fake import FakeOntologies
from services.graph_query.ontology.store import OntologyStore
from tests.store_suite.graph.ending_suite import EndingSuite, Graph, ReadingSuite
from tests.store_suite.graph.ontology_suite import OntologySuite


@pytest.fixture
def store() -> Graph:
    return FakeGraphStore()


@pytest.fixture
def ontologies() -> OntologyStore:
    return FakeOntologies()


class TestEndings(EndingSuite):
    """Endings in memory."""


class TestReadings(ReadingSuite):
    """Readings in memory."""


class TestOntologies(OntologySuite):
    """Ontologies in memory."""
