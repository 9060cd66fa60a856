"""Plain messages for violated field rules, as the validator's own quote regular expressions and rule ids."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from protovalidate import Violation

_NAME = "must be a letter, then letters, digits or underscores"
PATTERNS = MappingProxyType(
    {
        "^[0-9a-f]{64}$": "must be a SHA-256 as 64 characters of 0-9 and a-f",
        "^[A-Za-z][A-Za-z0-9_]*\\z": _NAME,
        "^[A-Za-z][A-Za-z0-9_]*$": _NAME,
        "^([A-Za-z][A-Za-z0-9_]*)?$": f"{_NAME}, or empty",
        "^[!-~]*$": "must be visible ASCII characters without spaces",
        "^[A-Za-z0-9_+/-]*$": "must be the IANA name of a time zone, such as Europe/Berlin",
    }
)
_OTHER_PATTERN = "has characters, or an order of them, that is not allowed here"
_RULES = MappingProxyType(
    {
        "required": "is required",
        "string.not_contains": "must not contain a NUL character",
        "enum.defined_only": "must be one of the values that the contract defines",
        "enum.not_in": "must be one of the values that the contract defines",
    }
)


def message_of(violation: Violation) -> str:
    """Returns the message of a violation: the contract's own if the rule has one."""
    proto = violation.proto
    if proto.rule_id == "string.pattern":
        return PATTERNS.get(str(violation.rule_value), _OTHER_PATTERN)
    if proto.rule_id == "required" and violation.rule_value is None:
        return proto.message  # A oneof: one of its fields is required.
    return _RULES.get(proto.rule_id) or proto.message or proto.rule_id
