"""Checks every request message, single or streamed, against the rules in its contract."""

from __future__ import annotations

from functools import cache
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
# Each violated rule takes some 30 µs of the event loop, and two bytes of a message are enough for one, so not all
# violations of a larger message are collected.
_LISTED_BYTES = 2_048
# More than a call's status can carry.
_MOST = 50


@cache
def _compiled_rules() -> protovalidate.Validator:
    """Returns the process's validator. To compile a message's rules, when it is first received, takes 25 ms."""
    return protovalidate.Validator()


class ValidationStage(Stage):
    """Refuses messages that violate a `buf.validate` rule or contain an invalid instant, naming each field.

    For a message over 2 KiB only the first invalid field is named. If it is in a list of messages directly in the
    request, the first one of each of the list's messages is named.
    """

    name: ClassVar[str] = "validation"

    def __init__(self) -> None:
        self._validator = _compiled_rules()
        self._timestamps = Timestamps()

    def on_message(self, call: Call, message: Message) -> None:  # noqa: ARG002 - the hook's shape
        if message.ByteSize() <= _LISTED_BYTES:
            # First, as rules that compare timestamps expect valid instants.
            self._check_instants(message)
            _refuse(_field_errors(self._validator.collect_violations(message)))
            return
        # First, so that no list exceeds its limit when each of its items is checked.
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
        # If the rule concerns the list, none of its items is invalid by itself.
        found = list(islice(self._check_each(elements[0].field_name, message), _MOST))
        return iter(found) if found else _field_errors(violations)

    def _check_each(self, name: str, message: Message) -> Iterator[FieldError]:
        """Yields the first invalid field of each message of a list; nothing for other lists."""
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
    """Returns the field's path, such as `documents[2].chunks[0].content`; `request` for a rule about it as a whole."""
    parts: list[str] = []
    for element in violation.field.elements if violation.field else ():
        subscript = element.subscript
        index = f"[{subscript.value}]" if subscript is not None else ""
        parts.append(f"{element.field_name}{index}")
    return ".".join(parts) or _WHOLE
