"""Checks every request message, single or streamed, against the rules in its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import protovalidate

from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.interceptors.timestamps import Timestamps

if TYPE_CHECKING:
    from google.protobuf.message import Message


_NO_INSTANT = "must be an instant of the years 1 to 9999"


class ValidationStage(Stage):
    """Refuses a message that breaks a `buf.validate` rule or holds no instant where one belongs: names each field."""

    name: ClassVar[str] = "validation"

    def __init__(self) -> None:
        self._validator = protovalidate.Validator()
        self._timestamps = Timestamps()

    def on_message(self, call: Call, message: Message) -> None:  # noqa: ARG002 - the hook's shape
        # First: rules that compare timestamps fail on those that are none.
        if wrong := list(self._timestamps.wrong(message)):
            raise InvalidFieldError(*(FieldError(path, _NO_INSTANT) for path in wrong))
        violations = self._validator.collect_violations(message)
        if violations:
            raise InvalidFieldError(*(_field_error(v.proto) for v in violations))


def _field_error(violation: Any) -> FieldError:
    told = violation.message or violation.rule_id
    return FieldError(_path(violation), told.replace("\x00", "NUL"))


def _path(violation: Any) -> str:
    """`documents[2].chunks[0].content`: the field's path; `request` for a rule about the whole message."""
    parts: list[str] = []
    for element in violation.field.elements if violation.field else ():
        subscript = element.subscript
        index = f"[{subscript.value}]" if subscript is not None else ""
        parts.append(f"{element.field_name}{index}")
    return ".".join(parts) or "request"
