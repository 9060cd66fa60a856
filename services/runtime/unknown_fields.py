"""Fields that a message has and this process does not know: those of a later contract, or of a caller's mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.unknown_fields import UnknownFieldSet

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from google.protobuf.message import Message

# Its own messages change no more.
_GOOGLE = "google.protobuf"


def reject_unknown_fields(message: Message, path: str) -> None:
    """InvalidFieldError when the message, or one within it, has unknown fields.

    Elsewhere they are ignored; a filter that ignored one would let through what it should exclude.
    """
    unknown = UnknownFieldSet(message)
    if len(unknown):
        description = f"has fields that are not known here: number {unknown[0].field_number}"
        raise InvalidFieldError(FieldError(path, description))
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.file.package == _GOOGLE:
            continue
        if field.is_repeated:
            for place, item in enumerate(value):
                reject_unknown_fields(item, f"{path}.{field.name}[{place}]")
        else:
            reject_unknown_fields(value, f"{path}.{field.name}")
