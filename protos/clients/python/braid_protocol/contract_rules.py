"""What the contracts' rules say about the fields of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buf.validate import validate_pb2

from braid.common.v1 import rules_pb2

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor


def is_required(field: FieldDescriptor) -> bool:
    """Whether the contract's rules refuse the field unset."""
    rules = field.GetOptions().Extensions[validate_pb2.field]
    if rules.required or field.is_repeated:
        return rules.required or rules.repeated.min_items > 0
    if field.has_presence or rules.ignore == validate_pb2.IGNORE_IF_ZERO_VALUE:
        return False
    text = rules.string
    some_text = text.uuid or text.min_len > 0 or text.Extensions[rules_pb2.not_blank]
    return some_text or 0 in rules.enum.not_in
