"""Random messages from descriptors: probably valid ones, ones with hostile fields, and malformed bytes."""

from __future__ import annotations

import random
import re
import string
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import protovalidate
from buf.validate import validate_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tests.fuzz.vocabulary import Vocabulary, name_of

_INTEGERS = {
    FieldDescriptor.TYPE_INT32: ("int32", -(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: ("int64", -(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT32: ("uint32", 0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: ("uint64", 0, 2**64 - 1),
}
_FLOATS = {FieldDescriptor.TYPE_DOUBLE: "double", FieldDescriptor.TYPE_FLOAT: "float"}
WORDS = (
    "Ledger",
    "Payments",
    "team",
    "owns",
    "Berlin",
    "Ada Lovelace",
    "NATS",
    "2024",
    "für",
    "数据",
)
_CANDIDATES = (
    *WORDS,
    "OWNS",
    "en",
    "english",
    "a",
    "text/plain",
    "Person",
    "local",
    "v1",
    "0" * 64,
    "0" * 32,
)
_HOSTILE_TEXTS = (
    "", " ", "\x00", "a\x00b", "\u202e\u2066", "\ufeff", "\U0001f9ea" * 20, "'; drop table document; --",
    "*:* AND (", "\\", "\"", "%s%n", "../../etc/passwd", "{{7*7}}", "\x1b[2J", "\r\nx: y", "a" * 5_000,
    "ﷺ" * 200, "null", "NaN", "-1", "0", "9" * 40, "\u0301" * 50,
)  # fmt: skip
_HOSTILE_FLOATS = (0.0, -0.0, -1.0, 1e-320, 1e308, float("inf"), float("-inf"), float("nan"))
# What the mask of a correction names.
_MASKED = ("subject", "object", "statement", "valid_time", "invalid_time", "attributes")
_DEPTH = 4
_ORDERED = 0.8
_PRESENT = 0.4
_DAY = 86_400
_EPOCH_2020 = 1_577_836_800
_WELL_KNOWN = "google.protobuf."


class Messages:
    """Generates messages; `dimension` is the length of embeddings. Equal random states generate equal messages."""

    def __init__(self, vocabulary: Vocabulary, dimension: int) -> None:
        self._vocabulary = vocabulary
        self._dimension = dimension
        self._validator = protovalidate.Validator()
        self._needed: dict[str, set[str]] = {}

    def likely(self, kind: Descriptor, chance: random.Random, place: int = 0) -> Message:
        """Generates a message that is probably valid; `place` is its position in a stream."""
        message = GetMessageClass(kind)()
        self._fill(message, chance, 0)
        for alternatives in kind.oneofs if chance.random() < _ORDERED else ():
            # A stream begins with its first alternative.
            fields = alternatives.fields
            field = fields[min(place, len(fields) - 1)]
            self._set(message, field, _rules(field), chance, 0)
        return message

    def hostile(self, kind: Descriptor, chance: random.Random, place: int = 0) -> Message:
        """Generates a probably valid message and sets one to three fields to hostile values."""
        message = self.likely(kind, chance, place)
        for _ in range(chance.randint(1, 3)):
            self._spoil(message, chance)
        return message

    def _fill(self, message: Any, chance: random.Random, depth: int) -> None:
        chosen = {one.name: chance.choice(one.fields).name for one in message.DESCRIPTOR.oneofs}
        for field in message.DESCRIPTOR.fields:
            rules = _rules(field)
            alternatives = field.containing_oneof
            if alternatives is not None and chosen[alternatives.name] != field.name:
                continue
            if self._is_needed(field) or chance.random() < (_PRESENT if depth < _DEPTH else 0.0):
                self._set(message, field, rules, chance, depth)

    def _is_needed(self, field: FieldDescriptor) -> bool:
        """Returns whether a message without the field, or without its alternatives, is invalid."""
        kind = field.containing_type
        assert kind is not None
        if kind.full_name not in self._needed:
            empty = self._validator.collect_violations(GetMessageClass(kind)())
            self._needed[kind.full_name] = {
                broken.proto.field.elements[0].field_name for broken in empty if broken.proto.field
            }
        alternatives = field.containing_oneof
        names = {field.name, alternatives.name if alternatives else field.name}
        return bool(names & self._needed[kind.full_name])

    def _set(
        self,
        message: Any,
        field: FieldDescriptor,
        rules: validate_pb2.FieldRules,
        chance: random.Random,
        depth: int,
    ) -> None:
        kind = field.message_type
        if kind is not None and kind.GetOptions().map_entry:
            self._set_map(getattr(message, field.name), kind, chance, depth)
        elif field.is_repeated:
            self._set_list(getattr(message, field.name), field, rules.repeated, chance, depth)
        elif kind is not None:
            getattr(message, field.name).SetInParent()
            self._fill_inner(getattr(message, field.name), chance, depth)
        else:
            setattr(message, field.name, self._scalar(field, rules, chance))

    def _set_list(
        self,
        items: Any,
        field: FieldDescriptor,
        rules: validate_pb2.RepeatedRules,
        chance: random.Random,
        depth: int,
    ) -> None:
        if field.type == FieldDescriptor.TYPE_FLOAT and chance.random() < 0.9:
            items.extend(chance.uniform(-1, 1) for _ in range(self._dimension))
            return
        most = min(rules.max_items or 3, max(3, rules.min_items))
        for _ in range(chance.randint(min(rules.min_items, most), most)):
            if field.message_type is not None:
                self._fill_inner(items.add(), chance, depth)
            else:
                items.append(self._scalar(field, rules.items, chance))

    def _set_map(self, entries: Any, kind: Descriptor, chance: random.Random, depth: int) -> None:
        key, value = kind.fields_by_name["key"], kind.fields_by_name["value"]
        for _ in range(chance.randint(0, 2)):
            name = self._scalar(key, _rules(key), chance)
            if value.message_type is not None:
                self._fill_inner(entries[name], chance, depth)
            else:
                entries[name] = self._scalar(value, _rules(value), chance)

    def _fill_inner(self, message: Any, chance: random.Random, depth: int) -> None:
        name = message.DESCRIPTOR.full_name
        if name == "google.protobuf.Timestamp":
            message.seconds = _EPOCH_2020 + chance.randint(0, 2_500) * _DAY
        elif name == "google.protobuf.Duration":
            message.nanos = chance.randint(0, 999_999_999)
        elif name == "google.protobuf.Struct":
            message.update({chance.choice(WORDS): chance.choice(WORDS), "n": chance.randint(0, 9)})
        elif name == "google.protobuf.FieldMask":
            message.paths.extend(chance.sample(_MASKED, chance.randint(1, 3)))
        elif not name.startswith(_WELL_KNOWN):
            self._fill(message, chance, depth + 1)

    def _scalar(
        self, field: FieldDescriptor, rules: validate_pb2.FieldRules, chance: random.Random
    ) -> Any:
        if field.type == FieldDescriptor.TYPE_STRING:
            return self._text(field, rules.string, chance)
        if field.type == FieldDescriptor.TYPE_BYTES:
            return self._words(chance).encode()
        if field.type == FieldDescriptor.TYPE_BOOL:
            return chance.random() < 0.5
        if field.type == FieldDescriptor.TYPE_ENUM:
            assert field.enum_type is not None
            numbers = [value.number for value in field.enum_type.values]
            return chance.choice(numbers[1:] or numbers)
        if field.type in _FLOATS:
            return _within(getattr(rules, _FLOATS[field.type]), 0.0, 1.0, chance.uniform)
        name, least, most = _INTEGERS[field.type]
        return _within(getattr(rules, name), max(least, 0), min(most, 20), chance.randint)

    def _text(
        self, field: FieldDescriptor, rules: validate_pb2.StringRules, chance: random.Random
    ) -> str:
        known = self._vocabulary.pick(name_of(field), chance)
        if known is not None and chance.random() < 0.8:
            return known
        if getattr(rules, "in"):
            return str(chance.choice(getattr(rules, "in")))
        if rules.uuid:
            return str(uuid.UUID(int=chance.getrandbits(128), version=4))
        if rules.pattern:
            fitting = [text for text in _CANDIDATES if _matches(rules.pattern, text)]
            return chance.choice(fitting) if fitting else known or ""
        text = self._words(chance)
        return text[: rules.max_len] if rules.max_len else text

    def _words(self, chance: random.Random) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))

    def _spoil(self, message: Any, chance: random.Random) -> None:
        """Changes one field of the message or of a nested message."""
        fields = list(message.DESCRIPTOR.fields)
        if not fields:
            return
        field = chance.choice(fields)
        kind = field.message_type
        if kind is None or kind.GetOptions().map_entry:
            self._spoil_value(message, field, chance)
            return
        if field.is_repeated:
            items = getattr(message, field.name)
            if chance.random() < 0.2:
                for _ in range(chance.choice((2, 60, 1_100))):
                    items.add()
                return
            inner = chance.choice(items) if items else items.add()
        else:
            inner = getattr(message, field.name)
            inner.SetInParent()
        self._spoil_inner(inner, chance)

    def _spoil_inner(self, message: Any, chance: random.Random) -> None:
        name = message.DESCRIPTOR.full_name
        if name in {"google.protobuf.Timestamp", "google.protobuf.Duration"}:
            message.seconds = chance.choice((-(2**63), -1, 0, 253_402_300_799, 2**63 - 1))
            message.nanos = chance.choice((-(2**31), -1, 0, 1_999_999_999))
        elif name == "google.protobuf.Struct":
            _nest(message, chance.choice((1, 50, 90)))
        elif not name.startswith(_WELL_KNOWN):
            self._spoil(message, chance)

    def _spoil_value(self, message: Any, field: FieldDescriptor, chance: random.Random) -> None:
        if field.message_type is not None:  # a map
            return
        value = _hostile_scalar(field, chance)
        if not field.is_repeated:
            setattr(message, field.name, value)
            return
        items = getattr(message, field.name)
        if chance.random() < 0.3:
            items.extend([value] * chance.choice((1, 2, 200, 5_000)))
        elif items:
            items[chance.randrange(len(items))] = value
        else:
            items.append(value)


def broken(data: bytes, chance: random.Random) -> bytes:
    """Returns a message's bytes after one to four random changes, insertions, deletions or repetitions."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randint(0, len(changed))
        change = chance.randrange(6)
        if change == 0 and place < len(changed):
            changed[place] ^= 1 << chance.randrange(8)
        elif change == 1:
            changed[place:place] = chance.randbytes(chance.randint(1, 8))
        elif change == 2:
            del changed[place : place + chance.randint(1, 8)]
        elif change == 3:
            changed = changed[:place]
        elif change == 4:
            changed += changed[place:]
        else:
            changed[place : place + 1] = b"\xff\xff\xff\xff\x0f"
    return bytes(changed)


def made_up(chance: random.Random) -> bytes:
    """Returns random bytes."""
    return chance.randbytes(chance.choice((1, 2, 5, 20, 200, 4_000)))


def _within(rules: Any, least: Any, most: Any, between: Callable[[Any, Any], Any]) -> Any:
    step = 1 if isinstance(least, int) else 1e-6
    low, high = least, most
    if rules.HasField("gte"):
        low = rules.gte
    elif rules.HasField("gt"):
        low = rules.gt + step
    if rules.HasField("lte"):
        high = min(max(high, low), rules.lte)
    elif rules.HasField("lt"):
        high = min(max(high, low), rules.lt - step)
    return between(low, max(low, high))


def _hostile_scalar(field: FieldDescriptor, chance: random.Random) -> Any:
    if field.type == FieldDescriptor.TYPE_STRING:
        return chance.choice(_HOSTILE_TEXTS)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return chance.randbytes(chance.choice((0, 1, 300)))
    if field.type == FieldDescriptor.TYPE_BOOL:
        return chance.random() < 0.5
    if field.type == FieldDescriptor.TYPE_ENUM:
        return chance.choice((-1, 0, 999, 2**31 - 1))
    if field.type in _FLOATS:
        return chance.choice(_HOSTILE_FLOATS)
    _, least, most = _INTEGERS[field.type]
    return chance.choice((least, most, 0, 1, most // 2))


def _nest(struct: Any, depth: int) -> None:
    inner = struct
    for _ in range(depth):
        inner = inner.get_or_create_struct(string.ascii_letters[0])


def _rules(field: FieldDescriptor) -> validate_pb2.FieldRules:
    rules: validate_pb2.FieldRules = field.GetOptions().Extensions[validate_pb2.field]
    return rules


def _matches(pattern: str, text: str) -> bool:
    with suppress(re.error):  # not every pattern of the contracts is valid in Python
        return re.search(pattern, text) is not None
    return False
