"""Rows of a space, page by page, as archives have them: what a page holds, where it begins, and how a token says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import Scalar, decode_token, encode_token

ROWS_AT_ONCE = 500
# A page ends at this size, so that a message with it stays far below the limit of a call.
FULL_PAGE_BYTES = 1024 * 1024


class Place(NamedTuple):
    """Where a page begins: at a step of the export, after a key of it, a JSON array; None is before all."""

    step: int = 0
    after: str | None = None


class FoundRows(NamedTuple):
    """Rows as JSON objects, and the key after which the next page of the step begins; None after its last row."""

    rows: Sequence[str]
    after: str | None = None


class RowsPage(NamedTuple):
    """A page of rows of one kind, the space's revision before it was read, and where the next page begins."""

    kind: str
    rows: Sequence[str]
    revision: int
    next: Place | None


def rows_to_read() -> int:
    """Returns how many rows a store reads for a page: one more than it can have shows whether there is a next one."""
    return ROWS_AT_ONCE + 1


def fitting(found: Sequence[tuple[str, str]]) -> FoundRows:
    """Returns the rows of a page, from rows with their keys."""
    size = count = 0
    for row, _ in found[:ROWS_AT_ONCE]:
        size += len(row)
        if count and size > FULL_PAGE_BYTES:
            break
        count += 1
    after = found[count - 1][1] if count < len(found) else None
    return FoundRows([row for row, _ in found[:count]], after)


def page_of(place: Place, kinds: Sequence[str], found: FoundRows, revision: int) -> RowsPage:
    """Returns the page at a place; `kinds` are those of all steps."""
    following: Place | None = None
    if found.after is not None:
        following = Place(place.step, found.after)
    elif place.step + 1 < len(kinds):
        following = Place(place.step + 1)
    return RowsPage(kinds[place.step], found.rows, revision, following)


def token_of(place: Place | None, query: tuple[Scalar, ...]) -> str:
    """Returns the token of a page; "" if there is none."""
    return "" if place is None else encode_token(query, [*place])


def place_of(token: str, query: tuple[Scalar, ...]) -> Place:
    """Returns where a page begins; without a token at the beginning. Raises InvalidFieldError for what is no token."""
    if not token:
        return Place()
    step, after = decode_token(token, query, length=2)
    if type(step) is not int or step < 0 or not (after is None or _is_key(after)):
        raise not_a_token()
    return Place(step, after)


def not_a_token() -> InvalidFieldError:
    """Returns the error for a token that no page has given, or that is of another state of the space."""
    return InvalidFieldError(FieldError("page_token", "is not a token of this export"))


def unknown_kind() -> InvalidFieldError:
    """Returns the error for a kind of rows that the store does not have."""
    return InvalidFieldError(FieldError("kind", "is not known to this version of Braid"))


def refused_rows() -> InvalidFieldError:
    """Returns the error for rows that the store cannot have; what they contain is not in it."""
    return InvalidFieldError(
        FieldError("rows", "are not rows that this version of Braid has exported")
    )


def _is_key(text: object) -> bool:
    try:
        key = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return False
    if not isinstance(key, list) or not key:
        return False
    return all(isinstance(part, str | int | float) for part in key)
