"""Parsing of request bodies, query parameters and path parameters."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.convertors import PathConvertor, register_url_convertor

from gateway.rest.mapping.validation_errors import MAX_NAME_LENGTH, MAX_PROBLEMS
from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastapi.dependencies.models import Dependant
    from fastapi.routing import APIRoute


Read = TypeVar("Read")
Raw = TypeVar("Raw", bytes, bytearray)
# Longer bodies may take more than a few milliseconds to parse, which would block all other requests.
MAX_INLINE_BYTES = 16 * 1024
_JSON = re.compile(r"application/(?:[^/,\s]{1,100}\+)?json")


def media_type(request: Request) -> str:
    """Returns the media type of the body, without parameters; empty if not given."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    """Whether a media type is JSON."""
    return _JSON.fullmatch(kind) is not None


async def _check_json(request: Request) -> None:
    # FastAPI leaves such a body as bytes, and would report that it is not an object.
    if not is_json(media_type(request)) and await request.body():
        raise InvalidFieldError(FieldError("Content-Type", "must be application/json"))


# For routes whose body FastAPI reads: refuses other media types, with their name.
JSON_BODY_ONLY = Depends(_check_json)


async def parse_in_thread(read: Callable[[Raw], Read], body: Raw) -> Read:
    """Returns `read(body)`; a long body is read in a thread. Raises what `read` raises.

    Other requests continue only between the steps of `read`: a parser blocks the interpreter while it parses a string
    (`long_text` splits it).
    """
    if len(body) <= MAX_INLINE_BYTES:
        return read(body)
    return await asyncio.to_thread(read, body)


async def whole(request: Request) -> bytearray:
    """Returns a request's body, collected in one buffer, because joining many parts at the end would be slow."""
    body = bytearray()
    async for part in request.stream():
        body += part
    return body


async def _check(request: Request) -> None:
    if not request.query_params:
        return
    route: APIRoute = request.scope["route"]
    declared = set(_declared(route.dependant))
    unknown = [name for name in request.query_params if name not in declared]
    if unknown:
        taken = ", ".join(sorted(declared)) or "none"
        description = f"is not a query parameter of this route; it takes: {taken}"
        raise InvalidFieldError(
            *(FieldError(_shown(name), description) for name in unknown[:MAX_PROBLEMS])
        )


# A dependency of the application's routers, so that it applies to every route.
ONLY_DECLARED_PARAMETERS = Depends(_check)


def _declared(dependant: Dependant) -> Iterator[str]:
    """Returns the names of the query parameters of a route and its dependencies."""
    for parameter in dependant.query_params:
        kind = parameter.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from (field.alias or name for name, field in kind.model_fields.items())
        else:
            yield parameter.alias
    for inner in dependant.dependencies:
        yield from _declared(inner)


def _shown(name: str) -> str:
    return name if 0 < len(name) < MAX_NAME_LENGTH else "query"


_KIND = "any_text"


class _AnyText(PathConvertor):
    # `.` alone does not match a line feed, and `$` would leave out a line feed at the end of the name.
    regex = "(?s:.*)"


register_url_convertor(_KIND, _AnyText())


def any_text(name: str) -> str:
    """Returns the path pattern for the rest of a path as the parameter `name`, including slashes and line feeds."""
    return f"{{{name}:{_KIND}}}"
