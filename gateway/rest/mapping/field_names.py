"""REST names of the contracts' fields: in what callers send, and in what an error says of it."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from services.runtime.errors import BraidError, FieldError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Named = Callable[[str], str]


# Names that differ wherever they stand; a route adds its own.
_EVERYWHERE = {
    "page_token": "cursor",
    "page_size": "limit",
    "valid_time": "valid_at",
    "invalid_time": "invalid_at",
    "time": "as_of",
    "max_listed": "limit",
    "request": "body",
    "instant": "",
    "range": "",
    "search": "",
}
_STEP = re.compile(r"([^.\[]+)(\[[^\]]*\])?")


def renamed(error: BraidError, named: Named) -> BraidError:
    """The same error with its fields, and its sentence where that lists them, under their REST names."""
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
    """A contract's path as a caller of REST knows it; `names` are a route's own. An empty name leaves the step out."""
    steps = []
    for step, index in _STEP.findall(path):
        name = names.get(step, _EVERYWHERE.get(step, step))
        if name:
            steps.append(name + index)
    return ".".join(steps) or "body"
