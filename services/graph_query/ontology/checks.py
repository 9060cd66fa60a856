"""Validation of an ontology, with one error per field. The rule for relations' names is part of the contract."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from pydantic import BaseModel

from services.graph_query.core.names import (
    RESERVED_OF_ENTITIES,
    RESERVED_OF_FACTS,
    RESERVED_RELATIONS,
    RESERVED_TYPES,
    relation_key,
)
from services.graph_query.ontology.domain import AttributeType, Ontology
from services.runtime.errors import FieldError, InvalidFieldError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


# A declared type becomes a class for the model's answers, in which these names already exist.
_TAKEN = frozenset(name for name in dir(BaseModel) if not name.startswith("_"))


_MODEL_PREFIX = "model_"


_RESERVED_RELATIONS = frozenset(map(relation_key, RESERVED_RELATIONS))


def check_ontology(ontology: Ontology) -> None:
    """Raises InvalidFieldError with every invalid field."""
    wrong = [*_entity_types(ontology), *_relation_types(ontology)]
    if wrong:
        raise InvalidFieldError(*wrong)


def _entity_types(ontology: Ontology) -> Iterator[FieldError]:
    place = "ontology.entity_types"
    yield from _names(place, [one.name for one in ontology.entity_types], RESERVED_TYPES)
    for number, one in enumerate(ontology.entity_types):
        where = f"{place}[{number}].attributes"
        yield from _attributes(where, one.attributes, RESERVED_OF_ENTITIES)


def _relation_types(ontology: Ontology) -> Iterator[FieldError]:
    place = "ontology.relation_types"
    names = [one.name for one in ontology.relation_types]
    yield from _distinct(place, names, _RESERVED_RELATIONS, key=relation_key)
    declared = {"", *(one.name for one in ontology.entity_types)}
    for number, one in enumerate(ontology.relation_types):
        yield from _attributes(f"{place}[{number}].attributes", one.attributes, RESERVED_OF_FACTS)
        for at, ends in enumerate(one.endpoints):
            for field, name in (("subject_type", ends.subject), ("object_type", ends.object)):
                if name not in declared:
                    where = f"{place}[{number}].endpoints[{at}].{field}"
                    yield FieldError(where, "is not one of the ontology's entity types")


def _attributes(
    place: str, attributes: Sequence[AttributeType], reserved: frozenset[str]
) -> Iterator[FieldError]:
    names = [one.name for one in attributes]
    yield from _names(place, names, reserved | _TAKEN)
    for number, name in enumerate(names):
        if name.startswith(_MODEL_PREFIX):
            yield FieldError(f"{place}[{number}].name", f"must not begin with {_MODEL_PREFIX}")


def _names(place: str, names: Sequence[str], reserved: frozenset[str]) -> Iterator[FieldError]:
    for number, name in enumerate(names):
        if not _NAME.fullmatch(name):
            text = "must be a letter and then letters, digits or underscores"
            yield FieldError(f"{place}[{number}].name", text)
    yield from _distinct(place, names, reserved)


def _distinct(
    place: str, names: Iterable[str], reserved: frozenset[str], key: Callable[[str], str] = str
) -> Iterator[FieldError]:
    """Yields errors for names that are reserved or duplicated, compared by their keys."""
    seen: set[str] = set()
    for number, name in enumerate(names):
        where = f"{place}[{number}].name"
        if key(name) in reserved:
            yield FieldError(where, "is a name of the graph's own: choose another")
        elif key(name) in seen:
            yield FieldError(where, "is there twice")
        seen.add(key(name))
