"""Resolves a given name and type to an entity, as a function of all types that the name is given with.

A name is one entity until facts give it several types. Then each type is an entity; the first type in alphabetical
order keeps the name's plain uuid, and a name without a type resolves to that entity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from services.graph_query.core.domain import EntityName
from services.graph_query.core.identity import entity_uuid
from services.graph_query.core.names import name_key

Types = frozenset[str]


def homonyms(space: str, key: str, types: Collection[str]) -> dict[str, str]:
    """Returns a name's entities by type, in the order of types; "" is the type of an untyped entity."""
    return NameKeys(space).homonyms(key, types)


class NameKeys:
    """Caches the keys of names and their plain uuids in one space."""

    def __init__(self, space: str) -> None:
        self.space = space
        self._keys: dict[str, str] = {}
        self._uuids: dict[str, str] = {}

    def key(self, name: str) -> str:
        """Returns the key of a name."""
        found = self._keys.get(name)
        if found is None:
            found = self._keys[name] = name_key(name)
        return found

    def uuid(self, key: str) -> str:
        """Returns the plain uuid for a name's key: the uuid of the name's first entity."""
        found = self._uuids.get(key)
        if found is None:
            found = self._uuids[key] = entity_uuid(self.space, key)
        return found

    def homonyms(self, key: str, types: Collection[str]) -> dict[str, str]:
        """Returns a name's entities by type, in the order of types; "" is the type of an untyped entity."""
        first, *rest = sorted(types) or [""]
        return {first: self.uuid(key)} | {
            other: entity_uuid(self.space, key, other) for other in rest
        }


class NewEntity(NamedTuple):
    """An entity to create."""

    uuid: str
    key: str
    type: str


class Retyped(NamedTuple):
    """An entity that takes another type, or loses its type."""

    uuid: str
    key: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """Names' types before a write (`stored`: only names that have an entity) and after it."""

    space: str
    stored: Mapping[str, Types]
    types: Mapping[str, Types]
    # A write resolves each name several times, and computing keys and uuids is slow.
    names: NameKeys = field(compare=False, repr=False)
    _after: dict[str, dict[str, str]] = field(default_factory=dict, compare=False, repr=False)
    _meant: dict[EntityName, str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def adding(
        cls,
        space: str,
        stored: Mapping[str, Types],
        ends: Iterable[EntityName],
        names: NameKeys | None = None,
    ) -> Resolution:
        """Returns the resolution after these names are added."""
        keys = names or NameKeys(space)
        types = dict(stored)
        for end in set(ends):
            key = keys.key(end.name)
            result = types.setdefault(key, frozenset())
            if end.type and end.type not in result:
                types[key] = result | {end.type}
        return cls(space, stored, types, keys)

    @classmethod
    def removing(
        cls, space: str, stored: Mapping[str, Types], gone: Iterable[tuple[str, str]]
    ) -> Resolution:
        """Returns the resolution after the last claims of these (key, type) pairs are removed."""
        types = dict(stored)
        for key, entity_type in gone:
            types[key] = types[key] - {entity_type}
        return cls(space, stored, types, NameKeys(space))

    def uuid(self, name: EntityName) -> str:
        """Returns the uuid of the entity that a given name resolves to after the write."""
        meant = self._meant.get(name)
        if meant is None:
            key = self.names.key(name.name)
            meant = self._homonyms(key).get(name.type) or self.names.uuid(key)
            self._meant[name] = meant
        return meant

    def named(self, key: str) -> tuple[str, ...]:
        """Returns all entities of a name after the write, by type."""
        return tuple(self._homonyms(key).values())

    def changed(self) -> list[str]:
        """Returns the names that existed before the write and whose types change."""
        return sorted(key for key, types in self.stored.items() if self.types[key] != types)

    def created(self) -> list[NewEntity]:
        """Returns the entities that are new."""
        return [
            NewEntity(uuid, key, kind)
            for key in sorted(self.types)
            if self.stored.get(key) != self.types[key]
            for kind, uuid in self._homonyms(key).items()
            if uuid not in self._before(key).values()
        ]

    def vanished(self) -> list[str]:
        """Returns the entities that disappear: their type has no claim left, or it takes the plain uuid."""
        return [
            uuid
            for key in self.changed()
            for uuid in self._before(key).values()
            if uuid not in self.named(key)
        ]

    def retyped(self) -> list[Retyped]:
        """Returns the entities that keep the plain uuid and change their type."""
        found = []
        for key in self.changed():
            old = next(iter(self._before(key)))
            new = next(iter(self._homonyms(key)))
            if old != new:
                found.append(Retyped(entity_uuid(self.space, key), key, old, new))
        return found

    def left(self) -> list[str]:
        """Returns the entities that have facts which now belong to another entity."""
        return [
            uuid
            for key in self.changed()
            for kind, uuid in self._before(key).items()
            if kind in self.types[key] and self._homonyms(key)[kind] != uuid
        ]

    def _homonyms(self, key: str) -> dict[str, str]:
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = self.names.homonyms(key, self.types[key])
        return found

    def _before(self, key: str) -> dict[str, str]:
        return self.names.homonyms(key, self.stored[key]) if key in self.stored else {}
