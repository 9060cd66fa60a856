"""Which scope a route needs, checked before its body is read: whoever may not call a route learns nothing from it.

A route that the contract declares needs its method's scope. Of the others those that take GET need `read`, all others
`write`, apart from those named here. The calls that a route makes are checked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fastapi.routing import APIRoute

from services.runtime.errors import MissingScopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastapi import Request
    from starlette.responses import Response

# They take a body and change nothing.
_READING: Final = frozenset(
    {
        "/api/chat",
        "/api/search/comprehensive",
        "/api/search/comprehensive/stream",
        "/api/search/hybrid",
        "/api/search/text",
        "/api/search/vector",
        "/memories/search",
        "/v1/chat/completions",
        "/v1/responses",
    }
)


class ScopedRoute(APIRoute):
    """A route that refuses a caller without its scope before it reads the request."""

    @property
    def scope(self) -> str:
        """Returns the scope that a caller needs."""
        declared: str | None = getattr(self.endpoint, "scope", None)
        reads = "GET" in (self.methods or ()) or self.path in _READING
        return declared or ("read" if reads else "write")

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See `APIRoute`."""
        handle = super().get_route_handler()
        scope = self.scope

        async def check_scope(request: Request) -> Response:
            identity = request.state.request_state.identity
            # Probes need no credential.
            if identity is not None and scope not in identity.scopes:
                raise MissingScopeError(scope)
            return await handle(request)

        return check_scope
