"""Messages for tests, made from their descriptors."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from braid.common.v1 import json_pb2

_DEPTH = 3
_REAL = (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)
_LAST_SECOND = 4_102_444_800
_LAST_NANOSECOND = 999_999_999


def full_message(kind: Any, depth: int = _DEPTH) -> Any:
    """Returns a message with every field set, but for maps and what lies deeper than `depth`."""
    message = kind()
    for field in kind.DESCRIPTOR.fields:
        inner = field.message_type
        if inner is not None and (depth == 0 or inner.GetOptions().map_entry):
            continue
        value = _scalar(field) if inner is None else full_message(GetMessageClass(inner), depth - 1)
        if field.is_repeated:
            getattr(message, field.name).extend([value])
        elif inner is not None:
            getattr(message, field.name).CopyFrom(value)
        else:
            setattr(message, field.name, value)
    return message


def _scalar(field: Any) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[-1].number
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        text = "3b0d4d0e-1111-4000-8000-000000000002"
        return b"x" if field.type == FieldDescriptor.TYPE_BYTES else text
    return 0.5 if field.cpp_type in _REAL else 1


@st.composite
def messages(draw: st.DrawFn, shape: Descriptor, depth: int = _DEPTH) -> Message:
    """Draws a message of a shape: of a oneof one field is set, and what the contract does not say is always set may be
    missing.
    """
    message = GetMessageClass(shape)()
    if shape.full_name in {"google.protobuf.Timestamp", "google.protobuf.Duration"}:
        message.seconds = draw(st.integers(0, _LAST_SECOND))  # type: ignore[attr-defined]
        message.nanos = draw(st.integers(0, _LAST_NANOSECOND))  # type: ignore[attr-defined]
        return message
    if shape.full_name == "google.protobuf.Struct":
        message.update(draw(st.dictionaries(st.text(max_size=3), _PLAIN, max_size=2)))  # type: ignore[attr-defined]
        return message
    chosen = {one.name: draw(st.sampled_from(list(one.fields))) for one in shape.oneofs}
    for field in shape.fields:
        oneof = field.containing_oneof
        options = field.GetOptions().Extensions[json_pb2.json]
        always = options.always or options.flatten
        if (oneof is None or chosen[oneof.name] == field) and (always or draw(st.booleans())):
            _draw_field(draw, message, field, depth)
    return message


def _draw_field(draw: st.DrawFn, message: Message, field: FieldDescriptor, depth: int) -> None:
    inner = field.message_type
    target = getattr(message, field.name)
    if inner is not None and inner.GetOptions().map_entry:
        value = _scalars(inner.fields_by_name["value"])
        target.update(draw(st.dictionaries(st.text(max_size=3), value, max_size=2)))
    elif inner is None and field.is_repeated:
        target.extend(draw(st.lists(_scalars(field), max_size=2)))
    elif inner is None:
        setattr(message, field.name, draw(_scalars(field)))
    elif depth == 0 and not inner.full_name.startswith("google."):
        return
    elif field.is_repeated:
        target.extend(draw(st.lists(messages(inner, depth - 1), max_size=2)))
    else:
        target.CopyFrom(draw(messages(inner, depth - 1)))


def _scalars(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.enum_type is not None:
        return st.sampled_from([one.number for one in field.enum_type.values])
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return st.booleans()
    if field.cpp_type in _REAL:
        return st.floats(-1e6, 1e6, width=32)
    return st.integers(0, 2**31 - 1)


_PLAIN = st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=3)
