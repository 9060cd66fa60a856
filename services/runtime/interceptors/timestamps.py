"""Finds timestamps that are not valid instants: outside of the years 1 to 9999, or with invalid nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from google.protobuf.timestamp_pb2 import Timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

_TIMESTAMP = Timestamp.DESCRIPTOR.full_name
_FIRST_SECOND = -62_135_596_800
_LAST_SECOND = 253_402_300_799
_SECOND = 1_000_000_000


class Timestamps:
    """Visits only fields that may contain timestamps, in any message."""

    def __init__(self) -> None:
        self._leading: dict[str, list[FieldDescriptor]] = {}

    def wrong(self, message: Message, path: str = "") -> Iterator[str]:
        """Yields the paths of all fields without a valid instant."""
        for field in self._fields(message):
            name = f"{path}{field.name}"
            if field.is_repeated:
                for place, item in enumerate(getattr(message, field.name)):
                    yield from self._wrong(item, f"{name}[{place}]")
            elif message.HasField(field.name):
                yield from self._wrong(getattr(message, field.name), name)

    def _wrong(self, value: Message, name: str) -> Iterator[str]:
        if isinstance(value, Timestamp):
            if not _is_instant(value):
                yield name
        else:
            yield from self.wrong(value, f"{name}.")

    def _fields(self, message: Message) -> list[FieldDescriptor]:
        # The stubs have two descriptor types; this may be either.
        descriptor = cast("Descriptor", message.DESCRIPTOR)
        found = self._leading.get(descriptor.full_name)
        if found is None:
            found = [field for field in descriptor.fields if _leads(field, set())]
            self._leading[descriptor.full_name] = found
        return found


def _leads(field: FieldDescriptor, seen: set[str]) -> bool:
    """Returns whether timestamps can be reached through a field."""
    kind = field.message_type
    if kind is None or kind.GetOptions().map_entry or kind.full_name in seen:
        return False
    return kind.full_name == _TIMESTAMP or any(
        _leads(inner, seen | {kind.full_name}) for inner in kind.fields
    )


def _is_instant(value: Timestamp) -> bool:
    return _FIRST_SECOND <= value.seconds <= _LAST_SECOND and 0 <= value.nanos < _SECOND
