"""Which entity a given name and type means, and what must be created or typed for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from services.graph_query.domain import EntityName
from services.graph_query.identity import entity_uuid
from services.graph_query.names import clean_name, name_key


@dataclass(slots=True)
class Resolution:
    """Entities by given name; new ones as (uuid, key, name, type); known ones that take a type."""

    uuids: dict[tuple[str, str], str] = field(default_factory=dict)
    created: list[tuple[str, str, str, str]] = field(default_factory=list)
    typed: list[tuple[str, str, str]] = field(default_factory=list)
    by_key: dict[str, dict[str, str]] = field(default_factory=dict)

    def uuid(self, name: EntityName) -> str:
        """The entity that a given name means."""
        return self.uuids[name_key(name.name), name.type]

    def named(self, key: str) -> tuple[str, ...]:
        """All entities of a name, by type."""
        return tuple(uuid for _, uuid in sorted(self.by_key[key].items()))


def resolve(
    space: str, names: Iterable[EntityName], known: Mapping[str, Mapping[str, str]]
) -> Resolution:
    """Resolves names against the known ones: name key → type → uuid.

    A typed name takes the entity of its type, else the one that has no type yet, else a new one.
    A name without a type takes the entity without one, else the first of the name.
    """
    found = Resolution(by_key={key: dict(types) for key, types in known.items()})
    wanted = {(name_key(name.name), name.type): name for name in names}
    for (key, entity_type), name in sorted(
        wanted.items(), key=lambda item: (not item[0][1], item[0])
    ):
        found.by_key.setdefault(key, {})
        found.uuids[key, entity_type] = _one(space, found, key, name)
    return found


def _one(space: str, found: Resolution, key: str, given: EntityName) -> str:
    types, name, entity_type = found.by_key[key], clean_name(given.name), given.type
    if entity_type in types:
        return types[entity_type]
    if not types:
        return _create(found, types, (entity_uuid(space, key), key, name, entity_type))
    first = entity_uuid(space, key)
    if not entity_type:
        return first if first in types.values() else types[min(types)]
    if "" in types:
        uuid = types.pop("")
        types[entity_type] = uuid
        found.typed.append((uuid, key, entity_type))
        return uuid
    return _create(found, types, (entity_uuid(space, key, entity_type), key, name, entity_type))


def _create(found: Resolution, types: dict[str, str], row: tuple[str, str, str, str]) -> str:
    types[row[3]] = row[0]
    found.created.append(row)
    return row[0]
