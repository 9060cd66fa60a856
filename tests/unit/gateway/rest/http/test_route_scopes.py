"""The scope that each route needs: whatever may change something needs `write`, or `admin`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gateway.rest.app import ROUTERS
from gateway.rest.contract_routes import contract_router
from gateway.rest.http.route_scopes import ScopedRoute

# Routes that take another method than GET and need only `read`: searches, questions, and the end of a question.
READING = {
    *("/api/search/vector", "/api/search/text", "/api/search/hybrid", "/api/search/graph"),
    *("/api/search/comprehensive", "/api/search/comprehensive/stream"),
    *("/api/findings/search", "/memories/search", "/api/memory/query", "/api/memory/context"),
    *("/api/chat", "/api/chat/{run_id}/cancel", "/v1/chat/completions", "/v1/responses"),
}
ADMINISTERING = {
    *("/api/consistency", "/api/reembed", "/api/reextract", "/api/space"),
    "/api/space/settings",
    *("/api/quarantines/{quarantine_id}", "/api/quarantines/{quarantine_id}/restore"),
}
# What belongs to all users of a space.
DELEGATING = {"/api/space/import", "/api/space/import/pages", "/api/space/import/finish"}
PROBES = {"/healthz", "/readyz"}


ALL_ROUTERS = (*ROUTERS, contract_router())


def routes(routers: Any = ALL_ROUTERS) -> Iterator[Any]:
    """Yields the routes of all routers, also of routers within routers."""
    for router in routers:
        for route in router.routes:
            if hasattr(route, "original_router"):
                yield from routes([route.original_router])
            else:
                yield route


def test_every_route_about_data_checks_its_scope() -> None:
    unchecked = {route.path for route in routes() if not isinstance(route, ScopedRoute)}
    assert unchecked == PROBES


def test_only_searches_and_questions_need_no_more_than_read_without_being_a_get() -> None:
    by_scope: dict[str, set[str]] = {
        scope: set() for scope in ("read", "write", "admin", "delegate")
    }
    for route in routes():
        if route.path not in PROBES and "GET" not in route.methods:
            by_scope[route.scope].add(route.path)
    assert by_scope["read"] == READING
    assert by_scope["admin"] == ADMINISTERING
    assert by_scope["delegate"] == DELEGATING
    assert by_scope["write"]


def test_reading_by_get_needs_read_unless_the_contract_declares_another_scope() -> None:
    gets = [one for one in routes() if "GET" in one.methods and one.path not in PROBES]
    admin = {route.path for route in gets if route.scope == "admin"}
    assert admin == {"/api/quarantines", "/api/quarantines/{quarantine_id}"}
    delegating = {route.path for route in gets if route.scope == "delegate"}
    assert delegating == {"/api/space/export"}
    operating = {route.path for route in gets if route.scope == "operator"}
    assert operating == {"/api/spaces"}
    others = {route.scope for route in gets if route.path not in admin | delegating | operating}
    assert others == {"read"}
