"""The contract of ontology stores."""

from __future__ import annotations

import pytest

from services.graph_query.ontology.domain import (
    AttributeKind,
    AttributeType,
    Endpoints,
    EntityType,
    Ontology,
    OntologyStore,
    RelationType,
)
from services.runtime.errors import WrongStateError
from tests.store_suite.graph.builders import new_space

WHOLE = Ontology(
    (EntityType("Person", "Somebody.", (AttributeType("age", AttributeKind.INTEGER, "Years."),)),),
    (
        RelationType(
            "KNOWS",
            "Who knows whom.",
            (AttributeType("since", AttributeKind.STRING),),
            (Endpoints("Person", "Person"), Endpoints("Person")),
        ),
        RelationType("Met", event=True),
    ),
    strict=True,
    instructions="Quotes \" and ` and ') are text.",
)


class OntologySuite:
    """Reading and replacing a space's ontology."""

    async def test_a_new_space_has_an_empty_ontology_of_version_0(
        self, ontologies: OntologyStore
    ) -> None:
        assert await ontologies.ontology(new_space()) == (Ontology(), 0)

    async def test_an_ontology_is_returned_as_stored_and_storing_it_again_changes_nothing(
        self, ontologies: OntologyStore
    ) -> None:
        space = new_space()
        assert await ontologies.put_ontology(space, WHOLE, None) == 1
        assert await ontologies.put_ontology(space, WHOLE, 1) == 1
        assert await ontologies.ontology(space) == (WHOLE, 1)
        assert await ontologies.put_ontology(space, Ontology(), 1) == 2
        assert await ontologies.ontology(space) == (Ontology(), 2)

    async def test_a_write_that_expects_another_version_is_refused(
        self, ontologies: OntologyStore
    ) -> None:
        space = new_space()
        await ontologies.put_ontology(space, WHOLE, 0)
        for expected in (0, 2):
            with pytest.raises(WrongStateError):
                await ontologies.put_ontology(space, Ontology(), expected)
        assert await ontologies.ontology(space) == (WHOLE, 1)

    async def test_each_space_has_its_own_ontology(self, ontologies: OntologyStore) -> None:
        space = new_space()
        await ontologies.put_ontology(space, WHOLE, None)
        assert (await ontologies.ontology(new_space())).version == 0
