"""Fields that a message has and this process does not know: those of a later contract, or of a caller's mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.unknown_fields import UnknownFieldSet

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from google.protobuf.message import Message

# Its own messages change no more.
_GOOGLE = "google.protobuf"


def known_alone(message: Message, path: str) -> None:
    """InvalidFieldError when the message, or one within it, holds unknown fields.

    Elsewhere they may be passed over. A filter without one of its wishes would let through what it was to keep out.
    """
    unknown = UnknownFieldSet(message)
    if len(unknown):
        told = f"has fields that are not known here: number {unknown[0].field_number}"
        raise InvalidFieldError(FieldError(path, told))
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.file.package == _GOOGLE:
            continue
        if field.is_repeated:
            for place, item in enumerate(value):
                known_alone(item, f"{path}.{field.name}[{place}]")
        else:
            known_alone(value, f"{path}.{field.name}")
