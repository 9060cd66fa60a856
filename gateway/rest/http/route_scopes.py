"""Which scope a route needs, checked before its body is read: whoever may not call a route learns nothing from it.

Routes that take GET need `read`, all others `write`, apart from those named here. The calls that a route makes are
checked again, by the scopes that their contracts declare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fastapi.routing import APIRoute

from services.runtime.errors import MissingScopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine

    from fastapi import Request
    from starlette.responses import Response

# They take a body, or end a run that saves nothing, and change nothing.
_READING: Final = frozenset(
    {
        "/api/chat",
        "/api/chat/{run_id}/cancel",
        "/api/findings/search",
        "/api/memory/query",
        "/api/search/comprehensive",
        "/api/search/comprehensive/stream",
        "/api/search/graph",
        "/api/search/hybrid",
        "/api/search/text",
        "/api/search/vector",
        "/memories/search",
        "/v1/chat/completions",
        "/v1/responses",
    }
)
_ADMINISTERING: Final = frozenset({"/api/consistency", "/api/reembed", "/api/reextract"})


def scope_of_route(path: str, methods: Collection[str]) -> str:
    """Returns the scope that a caller of a route needs."""
    if "GET" in methods or path in _READING:
        return "read"
    return "admin" if path in _ADMINISTERING else "write"


class ScopedRoute(APIRoute):
    """A route that refuses a caller without its scope before it reads the request."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See `APIRoute`."""
        handle = super().get_route_handler()
        scope = scope_of_route(self.path, self.methods or ())

        async def check_scope(request: Request) -> Response:
            identity = request.state.request_state.identity
            # Probes need no credential.
            if identity is not None and scope not in identity.scopes:
                raise MissingScopeError(scope)
            return await handle(request)

        return check_scope
