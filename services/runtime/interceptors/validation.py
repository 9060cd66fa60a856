"""Checks every request message, single or streamed, against the rules in its contract."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import protovalidate

from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.interceptors.timestamps import Timestamps
from services.runtime.interceptors.violation_messages import message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.message import Message


_NO_INSTANT = "must be an instant of the years 1 to 9999"
_WHOLE = "request"
# Each broken rule takes some 30 µs of the event loop, and two bytes of a message are enough for one: of a larger
# message not all are looked for.
_LISTED_BYTES = 2_048
# More than the end of a call can carry.
_MOST = 50


class ValidationStage(Stage):
    """Refuses a message that breaks a `buf.validate` rule or holds no instant where one belongs: names each field.

    Of a message over 2 KiB it names the first wrong field; where that is in a message of a list of the request itself,
    the first of each of these.
    """

    name: ClassVar[str] = "validation"

    def __init__(self) -> None:
        self._validator = protovalidate.Validator()
        self._timestamps = Timestamps()

    def on_message(self, call: Call, message: Message) -> None:  # noqa: ARG002 - the hook's shape
        if message.ByteSize() <= _LISTED_BYTES:
            # First: rules that compare timestamps are about instants.
            self._check_instants(message)
            _refuse(_field_errors(self._validator.collect_violations(message)))
            return
        # First: no list is longer than it may be when each of its items is looked at.
        try:
            _refuse(self._first(message))
        except protovalidate.EvaluationError:
            self._check_instants(message)
            raise
        self._check_instants(message)

    def _check_instants(self, message: Message) -> None:
        _refuse(FieldError(path, _NO_INSTANT) for path in self._timestamps.wrong(message))

    def _first(self, message: Message) -> Iterator[FieldError]:
        violations = self._validator.collect_violations(message, fail_fast=True)
        if not violations:
            return iter(())
        elements = violations[0].proto.field.elements if violations[0].proto.field else ()
        if not elements or elements[0].subscript is None:
            return _field_errors(violations)
        # None of them is wrong by itself where the rule is one of the list.
        found = list(islice(self._check_each(elements[0].field_name, message), _MOST))
        return iter(found) if found else _field_errors(violations)

    def _check_each(self, name: str, message: Message) -> Iterator[FieldError]:
        """The first wrong field of each message of a list; nothing for other lists."""
        kind = message.DESCRIPTOR.fields_by_name[name].message_type
        if kind is None or kind.GetOptions().map_entry:
            return
        for place, item in enumerate(getattr(message, name)):
            for error in _field_errors(self._validator.collect_violations(item, fail_fast=True)):
                yield FieldError(_within(f"{name}[{place}]", error.field), error.description)


def _refuse(errors: Iterator[FieldError]) -> None:
    if found := list(islice(errors, _MOST)):
        raise InvalidFieldError(*found)


def _field_errors(violations: list[protovalidate.Violation]) -> Iterator[FieldError]:
    return (FieldError(_path(one.proto), message_of(one)) for one in violations)


def _within(item: str, path: str) -> str:
    return item if path == _WHOLE else f"{item}.{path}"


def _path(violation: Any) -> str:
    """`documents[2].chunks[0].content`: the field's path; `request` for a rule about the whole message."""
    parts: list[str] = []
    for element in violation.field.elements if violation.field else ():
        subscript = element.subscript
        index = f"[{subscript.value}]" if subscript is not None else ""
        parts.append(f"{element.field_name}{index}")
    return ".".join(parts) or _WHOLE
