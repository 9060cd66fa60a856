"""Values that fields have had in messages, so that random messages name things that exist."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_MAX_VALUES = 40
_MAX_LENGTH = 200
_SHORTEST_NAME = 3
_SUFFIXES = ("_uuids", "_uuid", "_ids", "_id")
# Names under which a thing carries its own id.
OWN_ID = frozenset({"id", "uuid"})


class Vocabulary:
    """Strings by what their fields are called: `document_id`, `document_ids` and `Document.id` share theirs."""

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = defaultdict(list)

    def learn(self, message: Message) -> None:
        """Remembers the strings of a message."""
        for field, value in message.ListFields():
            items = value if field.is_repeated else [value]
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                continue
            for item in items:
                if field.type == FieldDescriptor.TYPE_STRING:
                    self._add(name_of(field), item)
                elif field.message_type is not None:
                    self.learn(item)

    def learn_json(self, value: Any, owner: str = "") -> None:
        """The same of a JSON answer; `owner` is the name under which the value stood."""
        if isinstance(value, Mapping):
            for name, inner in value.items():
                if isinstance(inner, str):
                    self._add(owner if name in OWN_ID else plain_name(name), inner)
                else:
                    self.learn_json(inner, plain_name(name))
        elif isinstance(value, list):
            for inner in value:
                if isinstance(inner, str):
                    self._add(owner, inner)
                else:
                    self.learn_json(inner, owner)

    def pick(self, name: str, chance: random.Random) -> str | None:
        """One of the values known under a name, or under one that contains it, as `ingestjob` contains `job`."""
        fitting = self._known.get(name) or [
            value
            for known, values in self._known.items()
            if len(known) >= _SHORTEST_NAME and (known in name or name in known)
            for value in values
        ]
        return chance.choice(fitting) if fitting else None

    def _add(self, name: str, value: str) -> None:
        values = self._known[name]
        if (
            value
            and len(value) <= _MAX_LENGTH
            and value not in values
            and len(values) < _MAX_VALUES
        ):
            values.append(value)


def name_of(field: FieldDescriptor) -> str:
    """What a field's values are ids or names of."""
    if field.name in OWN_ID and field.containing_type is not None:
        return field.containing_type.name.removesuffix("Ref").lower()
    return plain_name(field.name)


def plain_name(name: str) -> str:
    """`document_ids` and `documents` as `document`."""
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name.removesuffix("s")
