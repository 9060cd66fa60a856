"""Detects fields of a message that this process does not know: from a later contract, or by a caller's mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.unknown_fields import UnknownFieldSet

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from google.protobuf.message import Message

# The definitions of these messages no longer change.
_GOOGLE = "google.protobuf"


def reject_unknown_fields(message: Message, path: str) -> None:
    """Raises InvalidFieldError if the message, or one within it, has unknown fields.

    Elsewhere unknown fields are ignored; a filter that ignored one would let through what it should exclude.
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
