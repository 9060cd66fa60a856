"""Query parameters that a route does not declare are refused: a misspelt one is not passed over in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Depends, Request
from pydantic import BaseModel

from gateway.rest.invalid import LONGEST_NAME, MOST_PROBLEMS
from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi.dependencies.models import Dependant
    from fastapi.routing import APIRoute


async def _check(request: Request) -> None:
    if not request.query_params:
        return
    route: APIRoute = request.scope["route"]
    declared = set(_declared(route.dependant))
    unknown = [name for name in request.query_params if name not in declared]
    if unknown:
        taken = ", ".join(sorted(declared)) or "none"
        told = f"is not a query parameter of this route; it takes: {taken}"
        raise InvalidFieldError(
            *(FieldError(_shown(name), told) for name in unknown[:MOST_PROBLEMS])
        )


# For the routers of the application, so that it holds for every route of theirs.
DECLARED_ALONE = Depends(_check)


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
    return name if 0 < len(name) < LONGEST_NAME else "query"
