"""Methods of a path: HEAD for every GET, OPTIONS everywhere, and `Allow` with all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Match, Mount

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_ROUTED = ("DELETE", "GET", "PATCH", "POST", "PUT")


def allow(request: Request) -> str:
    """Returns the value of `Allow` for the path of a request."""
    routes: list[BaseRoute] = request.app.routes
    taken = {method for method in _ROUTED if _takes(routes, request.scope, method)}
    if "GET" in taken:
        taken.add("HEAD")
    return ", ".join(sorted(taken | {"OPTIONS"}))


def _takes(routes: Iterable[BaseRoute], scope: Scope, method: str) -> bool:
    asked = {**scope, "method": method}
    # A mount matches any method; the mounts here serve files.
    return any(
        route.matches(asked)[0] is Match.FULL
        for route in routes
        if method == "GET" or not isinstance(route, Mount)
    )


class HeadAsGet:
    """ASGI middleware that answers HEAD with the head of the response to GET."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                # Cancel immediately: a stream of events would continue as long as its job.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        # A copy, because the server relies on the method HEAD in its own scope to omit the body.
        inner = {**scope, "method": "GET"}
        try:
            await self._app(inner, receive, head)
        finally:
            if "route" in inner:
                scope["route"] = inner["route"]
