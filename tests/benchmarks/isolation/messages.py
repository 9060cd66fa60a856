"""Builds valid requests of any RPC from its descriptor, so that new RPCs are covered automatically."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import protovalidate
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

import braid
from tests.benchmarks.isolation.values import ALWAYS, NUMBERS, Given, is_id, is_words, text_for

_DEPTH = 4
_REPAIRS = 40
_TIMESTAMP = "google.protobuf.Timestamp"
_DURATION = "google.protobuf.Duration"
_MASK = "google.protobuf.FieldMask"
_TEXT = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
_FLOATS = (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT)
_SECONDS = 1_704_067_200


def all_methods() -> list[MethodDescriptor]:
    """Returns every RPC of every contract."""
    return [
        method
        for module in _modules()
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]


def _modules() -> Iterator[Any]:
    for folder in braid.__path__:
        for file in sorted(Path(folder).rglob("*_pb2.py")):
            names = file.relative_to(folder).with_suffix("").parts
            yield importlib.import_module(".".join(("braid", *names)))


class Requests:
    """Builds requests that comply with the rules of their contracts."""

    def __init__(self) -> None:
        self._validator = protovalidate.Validator()

    def of(self, method: MethodDescriptor, given: Given) -> list[Message]:
        """Returns the messages of a call: one, or for a client stream one for each alternative of its oneof."""
        kind = method.input_type
        if not method.client_streaming or not kind.oneofs:
            return [self._valid(kind, given)]
        return [self._valid(kind, given, chosen=field.name) for field in kind.oneofs[0].fields]

    def violations(self, message: Message) -> list[str]:
        """Returns the rules that a message violates."""
        return [
            _path(one.proto) + ": " + one.proto.rule_id
            for one in self._validator.collect_violations(message)
        ]

    def _valid(self, kind: Descriptor, given: Given, chosen: str = "") -> Message:
        message: Message = GetMessageClass(kind)()
        _fill(message, given, chosen, _DEPTH)
        for attempt in range(_REPAIRS):
            found = self._validator.collect_violations(message)
            if not found:
                break
            _repair(message, found[0].proto, given, attempt)
        return message


def _fill(message: Message, given: Given, chosen: str, depth: int) -> bool:
    """Sets ids and words in this message and nested ones; returns whether there were any."""
    filled = False
    for field in _fields(message, chosen):
        if field.type in _TEXT and (_is_wanted(field.name) or chosen):
            _set_text(message, field, text_for(field.name, given))
            filled = True
        elif field.message_type is not None and depth and not _is_plain(field):
            inner = GetMessageClass(field.message_type)()
            if _fill(inner, given, "", depth - 1) or field.name == chosen:
                _set_message(message, field, inner)
                filled = True
    return filled


def _is_wanted(name: str) -> bool:
    return is_id(name) or is_words(name) or name in ALWAYS


def _fields(message: Message, chosen: str) -> Iterator[FieldDescriptor]:
    """Yields the fields to fill; of a oneof only the chosen field, by default the first that is an id."""
    descriptor: Any = message.DESCRIPTOR
    if chosen:
        yield descriptor.fields_by_name[chosen]
        return
    for field in descriptor.fields:
        group = field.containing_oneof
        if group is None or len(group.fields) == 1 or field is _first_of(group):
            yield field


def _first_of(group: Any) -> FieldDescriptor:
    fields: list[FieldDescriptor] = list(group.fields)
    return next((field for field in fields if is_id(field.name)), fields[0])


def _is_plain(field: FieldDescriptor) -> bool:
    kind: Any = field.message_type
    return bool(kind.GetOptions().map_entry) or kind.file.package == "google.protobuf"


def _set_text(message: Message, field: FieldDescriptor, text: str) -> None:
    value: Any = text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    if field.is_repeated:
        del getattr(message, field.name)[:]
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)


def _set_message(message: Message, field: FieldDescriptor, inner: Message) -> None:
    if field.is_repeated:
        getattr(message, field.name).append(inner)
    else:
        getattr(message, field.name).CopyFrom(inner)


def _repair(message: Message, violation: Any, given: Given, attempt: int) -> None:
    """Gives the field that violates a rule another value, and after many attempts clears it."""
    owner, field = _place(message, violation)
    if field is None and violation.rule_id == "required":
        _set_any(owner, _first_of(owner.DESCRIPTOR.oneofs[0]), given, 0)
    elif field is None:
        _repair_whole(owner, given, attempt)
    elif _is_about_message(owner, field, violation):
        inner = getattr(owner, field.name)
        _repair_whole(inner[0] if field.is_repeated else inner, given, attempt)
    elif attempt > _REPAIRS // 2:
        owner.ClearField(field.name)
    else:
        _set_any(owner, field, given, attempt)


def _is_about_message(owner: Any, field: FieldDescriptor, violation: Any) -> bool:
    """Returns whether the violated rule is one of the field's message about several of its fields."""
    if field.message_type is None or violation.rule_id.partition(".")[0] in {
        "required",
        "repeated",
    }:
        return False
    return bool(getattr(owner, field.name)) if field.is_repeated else owner.HasField(field.name)


def _repair_whole(message: Any, given: Given, attempt: int) -> None:
    """Changes one of the fields that are set to another id, or clears it."""
    filled = [field for field, _ in message.ListFields()]
    if not filled:
        return
    field = filled[-1 - attempt % len(filled)]
    if is_id(field.name) and field.type in _TEXT and not field.is_repeated:
        setattr(message, field.name, given.second)
    else:
        message.ClearField(field.name)


def _place(message: Message, violation: Any) -> tuple[Any, FieldDescriptor | None]:
    owner: Any = message
    elements = list(violation.field.elements) if violation.field else []
    field = None
    for number, element in enumerate(elements):
        field = owner.DESCRIPTOR.fields_by_name.get(element.field_name)
        if field is None:
            return owner, None
        if number < len(elements) - 1:
            value = getattr(owner, field.name)
            owner = value[element.subscript.value] if field.is_repeated else value
    return owner, field


def _set_any(owner: Any, field: FieldDescriptor, given: Given, attempt: int) -> None:
    if field.message_type is not None:
        _set_sample_message(owner, field, given)
    elif field.type in _TEXT:
        _set_text(owner, field, text_for(field.name, given, attempt))
    else:
        value = _number(field)
        if field.is_repeated:
            del getattr(owner, field.name)[:]
            getattr(owner, field.name).append(value)
        else:
            setattr(owner, field.name, value)


def _set_sample_message(owner: Any, field: FieldDescriptor, given: Given) -> None:
    kind: Any = field.message_type
    inner: Any = GetMessageClass(kind)()
    if kind.full_name in (_TIMESTAMP, _DURATION):
        inner.seconds = _SECONDS if kind.full_name == _TIMESTAMP else 1
    elif kind.full_name == _MASK:
        inner.paths.extend(_masked(owner))
    else:
        _fill(inner, given, "", _DEPTH)
    if field.is_repeated:
        owner.ClearField(field.name)
    _set_message(owner, field, inner)


def _masked(owner: Any) -> list[str]:
    """Returns what a mask names: the fields that are set in the message next to it."""
    beside = [value for field, value in owner.ListFields() if field.message_type is not None]
    return [field.name for value in beside[:1] for field, _ in value.ListFields()]


def _number(field: FieldDescriptor) -> Any:
    if field.name in NUMBERS:
        return NUMBERS[field.name]
    if field.enum_type is not None:
        return next((value.number for value in field.enum_type.values if value.number), 0)
    if field.type in _FLOATS:
        return 0.5
    return True if field.type == FieldDescriptor.TYPE_BOOL else 1


def _path(violation: Any) -> str:
    elements = violation.field.elements if violation.field else []
    return ".".join(element.field_name for element in elements) or "request"
