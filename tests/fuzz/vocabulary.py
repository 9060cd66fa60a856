"""Collects field values from messages, so that random messages can name existing things."""

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
# Field names of a thing's own id.
OWN_ID = frozenset({"id", "uuid"})


class Vocabulary:
    """Strings by the kind of their field: `document_id`, `document_ids` and `Document.id` are of one kind."""

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = defaultdict(list)

    def learn(self, message: Message) -> None:
        """Records the strings of a message."""
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
        """Records the strings of a JSON response; `owner` is the name of the field that has the value."""
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
        """Returns a random value of a kind, or of one whose name contains it, as `ingestjob` contains `job`."""
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
    """Returns the kind of thing that a field's values identify."""
    if field.name in OWN_ID and field.containing_type is not None:
        return field.containing_type.name.removesuffix("Ref").lower()
    return plain_name(field.name)


def plain_name(name: str) -> str:
    """Returns the singular kind: `document` for `document_ids` and `documents`."""
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name.removesuffix("s")
