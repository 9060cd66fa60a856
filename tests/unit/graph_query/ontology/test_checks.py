"""What an ontology may not say, and what a strict one refuses."""

from __future__ import annotations

import pytest

from services.graph_query.core.names import RESERVED_TYPES
from services.graph_query.ontology.checks import check_ontology
from services.graph_query.ontology.domain import (
    AttributeKind,
    AttributeType,
    Endpoints,
    EntityType,
    Ontology,
    RelationType,
)
from services.runtime.errors import InvalidFieldError


def things(*names: str) -> Ontology:
    return Ontology(entity_types=tuple(EntityType(name) for name in names))


def relations(*names: str) -> Ontology:
    return Ontology(relation_types=tuple(RelationType(name) for name in names))


def noted(name: str, *, of_facts: bool = False) -> Ontology:
    attributes = (AttributeType(name, AttributeKind.STRING),)
    if of_facts:
        return Ontology(relation_types=(RelationType("KNOWS", attributes=attributes),))
    return Ontology(entity_types=(EntityType("Person", attributes=attributes),))


@pytest.mark.parametrize(
    ("ontology", "field"),
    [
        *((things(name), "ontology.entity_types[0].name") for name in sorted(RESERVED_TYPES)),
        (things("Person\n"), "ontology.entity_types[0].name"),
        (things("My Type"), "ontology.entity_types[0].name"),
        (things("Pers`on"), "ontology.entity_types[0].name"),
        (things("Größe"), "ontology.entity_types[0].name"),
        (things("Person", "Person"), "ontology.entity_types[1].name"),
        (relations("RELATES_TO"), "ontology.relation_types[0].name"),
        (relations("CO_OCCURS"), "ontology.relation_types[0].name"),
        (relations("KNOWS", "knows"), "ontology.relation_types[1].name"),
        (noted("uuid"), "ontology.entity_types[0].attributes[0].name"),
        (noted("summary"), "ontology.entity_types[0].attributes[0].name"),
        (noted("copy"), "ontology.entity_types[0].attributes[0].name"),
        (noted("model_config"), "ontology.entity_types[0].attributes[0].name"),
        (noted("next_model"), "ontology.entity_types[0].attributes[0].name"),
        (noted("next_embedding"), "ontology.entity_types[0].attributes[0].name"),
        (noted("next_model", of_facts=True), "ontology.relation_types[0].attributes[0].name"),
        (noted("next_embedding", of_facts=True), "ontology.relation_types[0].attributes[0].name"),
        (noted("valid_at", of_facts=True), "ontology.relation_types[0].attributes[0].name"),
        (noted("group_id", of_facts=True), "ontology.relation_types[0].attributes[0].name"),
        (
            Ontology(relation_types=(RelationType("KNOWS", endpoints=(Endpoints("Person", ""),)),)),
            "ontology.relation_types[0].endpoints[0].subject_type",
        ),
    ],
)
def test_what_is_wrong_is_told_by_its_field(ontology: Ontology, field: str) -> None:
    with pytest.raises(InvalidFieldError) as failed:
        check_ontology(ontology)
    assert field in [wrong.field for wrong in failed.value.fields]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidFieldError) as failed:
        check_ontology(things("Entity", "Saga"))
    assert len(failed.value.fields) == 2


OWNS = RelationType("OWNS", endpoints=(Endpoints("Person", "Service"), Endpoints("Team", "")))
STRICT = Ontology(relation_types=(OWNS, RelationType("KNOWS")), strict=True)


@pytest.mark.parametrize(
    ("relation", "subject", "target", "fits"),
    [
        ("OWNS", "Person", "Service", True),
        ("owns", "Person", "Service", True),
        ("OWNS", "Team", "", True),
        ("OWNS", "Service", "Person", False),
        ("OWNS", "", "Service", False),
        ("KNOWS", "", "", True),
        ("LIKES", "Person", "Service", False),
    ],
)
def test_a_strict_ontology_says_which_facts_there_are(
    relation: str, subject: str, target: str, fits: bool
) -> None:
    assert (STRICT.misfit(relation, subject, target) is None) == fits
    assert Ontology(STRICT.entity_types, STRICT.relation_types).misfit(relation, "x", "y") is None
