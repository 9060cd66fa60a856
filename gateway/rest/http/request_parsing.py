"""Request bodies, query parameters and path parameters, on their way into what routes work with."""

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
# Longer ones may take more than a few milliseconds to read, for which every other request would wait.
MAX_INLINE_BYTES = 16 * 1024
_JSON = re.compile(r"application/(?:[^/,\s]+\+)?json")


def media_type(request: Request) -> str:
    """What the caller says its body is, without parameters; empty where nothing is said."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    """Whether a media type is of JSON."""
    return _JSON.fullmatch(kind) is not None


async def _check_json(request: Request) -> None:
    # FastAPI leaves such a body as bytes, and would tell of those that they are no object.
    if not is_json(media_type(request)) and await request.body():
        raise InvalidFieldError(FieldError("Content-Type", "must be application/json"))


# For routes whose body FastAPI reads: one of another type is refused by its name.
JSON_BODY_ONLY = Depends(_check_json)


async def parse_in_thread(read: Callable[[Raw], Read], body: Raw) -> Read:
    """What `read` makes of the body: a long one beside the event loop, in a thread. Raises what `read` raises.

    Others go on only between the steps of `read`: a parser keeps the interpreter to itself until it has all of a text
    (`long_text` parts one).
    """
    if len(body) <= MAX_INLINE_BYTES:
        return read(body)
    return await asyncio.to_thread(read, body)


async def whole(request: Request) -> bytearray:
    """A request's body, in one place as it arrives: to join its parts at the end would take a while for a long one."""
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


# For the routers of the application, so that it holds for every route of theirs.
ONLY_DECLARED_PARAMETERS = Depends(_check)


def _declared(dependant: Dependant) -> Iterator[str]:
    """Names of the query parameters of a route and of what it depends on."""
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
    # `.` alone stops at a line feed, and a line feed at the very end would be left out of the name.
    regex = "(?s:.*)"


register_url_convertor(_KIND, _AnyText())


def any_text(name: str) -> str:
    """The rest of a route's path as the parameter `name`: slashes and line feeds are part of it."""
    return f"{{{name}:{_KIND}}}"
