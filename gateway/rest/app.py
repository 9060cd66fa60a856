"""The FastAPI application: routes, the middleware around them, and errors in one shape."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response

from gateway.rest import health, jobs
from gateway.rest.chat import routes as chat_routes
from gateway.rest.contract_routes import contract_router
from gateway.rest.documents import routes as documents_routes
from gateway.rest.facts import corrections as fact_corrections
from gateway.rest.facts import routes as facts_routes
from gateway.rest.findings import routes as findings_routes
from gateway.rest.http.errors import answer_of, http_answer
from gateway.rest.http.limits import RequestLimits
from gateway.rest.http.methods import HeadAsGet, allow
from gateway.rest.http.middleware import Drain, RequestMiddleware
from gateway.rest.http.request_parsing import ONLY_DECLARED_PARAMETERS
from gateway.rest.mapping.openapi import SERVERS, describe, operation_id
from gateway.rest.mapping.validation_errors import invalid
from gateway.rest.openai import routes as openai_routes
from gateway.rest.openai.errors import OpenAIErrors
from gateway.rest.search import routes as search_routes
from gateway.rest.typed_memory import routes as memories_routes
from gateway.web.routes import load_assets, page_router
from services.runtime.errors import BraidError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastapi import Request
    from starlette.routing import BaseRoute

    from gateway.clients import Clients
    from gateway.settings import GatewaySettings
    from services.runtime.identity import Authenticator


# What REST does that gRPC does not: uploads, streams, and answers that the gateway puts together.
ROUTERS = (
    search_routes.router,
    chat_routes.router,
    openai_routes.router,
    documents_routes.router,
    facts_routes.router,
    fact_corrections.router,
    findings_routes.router,
    memories_routes.router,
    jobs.router,
    health.router,
)
# Smaller responses fit into a few packets anyway. Level 6 takes 7 ms for the OpenAPI document, from 664 to 46 kB; level
# 9 takes 15 ms, for 45 kB.
_COMPRESSED_BYTES = 4_096
_COMPRESSION_LEVEL = 6
_ABOUT = "Answers from vectors, full text and a temporal knowledge graph. The same over gRPC: `protos/braid`."


def create_app(
    clients: Clients,
    settings: GatewaySettings,
    authenticator: Authenticator,
    further: Sequence[BaseRoute] = (),
    drain: Drain | None = None,
) -> FastAPI:
    """Creates the application over `clients`. It owns no resources that must be closed.

    `further` are routes of other protocols. After `drain` has begun, the application is not ready.
    """
    drain = drain or Drain()
    # The page has its own scripts, so that /docs works without network.
    app = FastAPIOffline(
        title="Braid REST API",
        version="1",
        description=_ABOUT,
        servers=list(SERVERS),
        generate_unique_id_function=operation_id,
        redoc_url=None,
        redirect_slashes=False,
        # The middleware continues the caller's trace; a second span per request would be redundant.
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    app.state.clients = clients
    app.state.settings = settings
    app.state.drain = drain
    for router in (*ROUTERS, contract_router()):
        app.include_router(router, dependencies=[ONLY_DECLARED_PARAMETERS])
    app.router.routes.extend(further)
    app.include_router(page_router(load_assets()))
    app.add_middleware(
        GZipMiddleware, minimum_size=_COMPRESSED_BYTES, compresslevel=_COMPRESSION_LEVEL
    )
    app.add_middleware(HeadAsGet)
    app.add_middleware(
        RequestMiddleware,
        authenticator=authenticator,
        body_limit=_body_limit(settings),
        idle_seconds=settings.body_idle_seconds,
        limits=RequestLimits.of(settings),
        drain=drain,
        origins=settings.cors_origins,
    )
    app.add_middleware(OpenAIErrors)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],
            expose_headers=["*"],
        )
    app.add_exception_handler(BraidError, _braid_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    describe(app)
    return app


# A page as it was exported, with room for what JSON escapes; gRPC takes no larger message.
_IMPORT_PAGE_BYTES = 16 * 1024 * 1024


def _body_limit(settings: GatewaySettings) -> Callable[[str], int]:
    uploads = {
        "/api/documents": settings.max_document_bytes,
        "/api/facts": settings.max_facts_bytes,
        "/api/space/import/pages": _IMPORT_PAGE_BYTES,
    }
    return lambda path: uploads.get(path, settings.max_body_bytes)


async def _braid_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, BraidError)  # noqa: S101 - for the type checker: registered for this type
    return answer_of(error, request.state.request_state.request_id)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    return answer_of(invalid(error.errors()), request.state.request_state.request_id)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        # The router lists only the methods of one of the path's routes; there may be several.
        headers = {"allow": allow(request)}
        if request.method == "OPTIONS":
            return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)
        error = HTTPException(error.status_code, error.detail, headers)
    return http_answer(error, request.state.request_state.request_id)
