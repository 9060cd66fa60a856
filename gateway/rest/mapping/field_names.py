"""REST names of the contracts' fields, in requests and in errors."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from services.runtime.errors import BraidError, FieldError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Named = Callable[[str], str]


# Names that differ in every route; a route may add its own.
_EVERYWHERE = {
    "page_token": "cursor",
    "page_size": "limit",
    "valid_time": "valid_at",
    "invalid_time": "invalid_at",
    "expire_time": "expires_at",
    "idempotency_key": "Idempotency-Key",
    "max_listed": "limit",
    "request": "body",
    "instant": "",
    "range": "",
    "search": "",
}
_STEP = re.compile(r"([^.\[]+)(\[[^\]]{0,200}\])?")


def renamed(error: BraidError, named: Named) -> BraidError:
    """Returns the same error with REST names in its fields, and in its message if that lists them."""
    if not error.fields:
        return error
    fields = tuple(FieldError(named(path), description) for path, description in error.fields)
    return BraidError(
        "; ".join(f"{path}: {description}" for path, description in fields),
        metadata=error.metadata,
        fields=fields,
        retry_after=error.retry_after,
        reason=error.reason,
    )


def rest_name(path: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Returns the REST name of a contract's path; `names` are specific to a route. An empty name omits the step."""
    steps = []
    for step, index in _STEP.findall(path):
        name = names.get(step, _EVERYWHERE.get(step, step))
        if name:
            steps.append(name + index)
    return ".".join(steps) or "body"
