"""Positions in listings, encoded in page tokens."""

from __future__ import annotations

from services.graph_query.core.domain import FIRST, FIRST_ENTITY, EntityListing, EntityPosition
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import Scalar, decode_token

_NO_TOKEN = InvalidFieldError(FieldError("page_token", "is not a token of this service"))


def position(token: str, query: tuple[str, ...]) -> tuple[str, str]:
    """Returns the position in a page token, `FIRST` without one.

    Raises InvalidFieldError for another query's token.
    """
    if not token:
        return FIRST
    name, uuid = decode_token(token, query, length=2)
    if not isinstance(name, str) or not isinstance(uuid, str):
        raise _NO_TOKEN
    return name, uuid


def listing_query(space: str, listing: EntityListing) -> tuple[Scalar, ...]:
    """Returns what a token of a listing of entities is bound to."""
    return ("entities", space, listing.type, listing.order.value, listing.document_titles)


def entity_position(token: str, query: tuple[Scalar, ...]) -> EntityPosition:
    """Returns the position in a token of a listing of entities; `FIRST_ENTITY` without one."""
    if not token:
        return FIRST_ENTITY
    mentions, key, uuid = decode_token(token, query, length=3)
    if type(mentions) is not int or not 0 <= mentions <= FIRST_ENTITY.mentions:
        raise _NO_TOKEN
    if not isinstance(key, str) or not isinstance(uuid, str):
        raise _NO_TOKEN
    return EntityPosition(mentions, key, uuid)
