"""Which ontologies are rejected, and which facts a strict ontology rejects."""

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


def with_entity_types(*names: str) -> Ontology:
    return Ontology(entity_types=tuple(EntityType(name) for name in names))


def with_relation_types(*names: str) -> Ontology:
    return Ontology(relation_types=tuple(RelationType(name) for name in names))


def with_attribute(name: str, *, of_facts: bool = False) -> Ontology:
    attributes = (AttributeType(name, AttributeKind.STRING),)
    if of_facts:
        return Ontology(relation_types=(RelationType("KNOWS", attributes=attributes),))
    return Ontology(entity_types=(EntityType("Person", attributes=attributes),))


@pytest.mark.parametrize(
    ("ontology", "field"),
    [
        *(
            (with_entity_types(name), "ontology.entity_types[0].name")
            for name in sorted(RESERVED_TYPES)
        ),
        (with_entity_types("Person\n"), "ontology.entity_types[0].name"),
        (with_entity_types("My Type"), "ontology.entity_types[0].name"),
        (with_entity_types("Pers`on"), "ontology.entity_types[0].name"),
        (with_entity_types("Größe"), "ontology.entity_types[0].name"),
        (with_entity_types("Person", "Person"), "ontology.entity_types[1].name"),
        (with_relation_types("RELATES_TO"), "ontology.relation_types[0].name"),
        (with_relation_types("CO_OCCURS"), "ontology.relation_types[0].name"),
        (with_relation_types("KNOWS", "knows"), "ontology.relation_types[1].name"),
        (with_attribute("uuid"), "ontology.entity_types[0].attributes[0].name"),
        (with_attribute("summary"), "ontology.entity_types[0].attributes[0].name"),
        (with_attribute("copy"), "ontology.entity_types[0].attributes[0].name"),
        (with_attribute("model_config"), "ontology.entity_types[0].attributes[0].name"),
        (with_attribute("next_model"), "ontology.entity_types[0].attributes[0].name"),
        (with_attribute("next_embedding"), "ontology.entity_types[0].attributes[0].name"),
        (
            with_attribute("next_model", of_facts=True),
            "ontology.relation_types[0].attributes[0].name",
        ),
        (
            with_attribute("next_embedding", of_facts=True),
            "ontology.relation_types[0].attributes[0].name",
        ),
        (
            with_attribute("valid_at", of_facts=True),
            "ontology.relation_types[0].attributes[0].name",
        ),
        (
            with_attribute("group_id", of_facts=True),
            "ontology.relation_types[0].attributes[0].name",
        ),
        (
            Ontology(relation_types=(RelationType("KNOWS", endpoints=(Endpoints("Person", ""),)),)),
            "ontology.relation_types[0].endpoints[0].subject_type",
        ),
    ],
)
def test_an_invalid_ontology_is_rejected_with_the_field(ontology: Ontology, field: str) -> None:
    with pytest.raises(InvalidFieldError) as failed:
        check_ontology(ontology)
    assert field in [wrong.field for wrong in failed.value.fields]


def test_all_errors_are_reported_together() -> None:
    with pytest.raises(InvalidFieldError) as failed:
        check_ontology(with_entity_types("Entity", "Saga"))
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
def test_only_a_strict_ontology_rejects_facts_that_do_not_fit(
    relation: str, subject: str, target: str, fits: bool
) -> None:
    assert (STRICT.misfit(relation, subject, target) is None) == fits
    assert Ontology(STRICT.entity_types, STRICT.relation_types).misfit(relation, "x", "y") is None
