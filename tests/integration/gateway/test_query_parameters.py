"""Every route refuses a query parameter that it does not declare, by its name."""

from __future__ import annotations

from typing import Annotated, Any, cast

import httpx2
import pytest
from fastapi import APIRouter, Depends, FastAPI, Query
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel
from starlette.responses import Response

from braid.graph.v1 import query_pb2
from braid.vector.v1 import documents_pb2
from gateway.clients import Clients
from gateway.rest.app import create_app
from gateway.rest.http.request_parsing import ONLY_DECLARED_PARAMETERS
from gateway.rest.mapping.validation_errors import MAX_PROBLEMS
from gateway.settings import GatewaySettings
from services.runtime.errors import InvalidFieldError
from services.runtime.identity import Authenticator
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import JOB_ID

DELEGATE = {"authorization": "Bearer gateway", "braid-space": "team-a"}


def routes() -> list[tuple[str, str]]:
    """Returns method and path of every route in the OpenAPI document: all but those of the document and the page."""
    settings = GatewaySettings(_env_file=None)
    app = create_app(cast("Clients", None), settings, Authenticator(None, allow_local=True))
    described = app.openapi()["paths"]
    served = {one.path_format for one in iter_route_contexts(app.routes)}
    own = {
        "/openapi.json",
        "/static-offline-docs/{path}",
        "/",
        "/assets/{path}",
        "/docs",
        "/docs/oauth2-redirect",
        "/v1/responses",
    }
    assert served == described.keys() | own
    return [(method, path) for path, methods in described.items() for method in methods]


def in_openais_form(path: str) -> bool:
    """Returns whether a route's errors have the form that OpenAI's clients read."""
    return path.startswith("/v1/")


@pytest.mark.parametrize(
    ("method", "path"), [route for route in routes() if not in_openais_form(route[1])]
)
async def test_every_route_refuses_an_undeclared_parameter(
    served: Served, guarded: Served, method: str, path: str
) -> None:
    filled = path.replace("{job_id}", JOB_ID)
    of_all_users = path.startswith(("/api/space/export", "/api/space/import"))
    # A caller without a key may not act for others.
    gateway, headers = (guarded, DELEGATE) if of_all_users else (served, {})
    response = await gateway.http.request(method, filled, params={"limt": "5"}, headers=headers)
    assert (response.status_code, response.json()["reason"]) == (422, "INVALID_FIELD")
    (problem,) = response.json()["fields"]
    assert problem["field"] == "limt"
    assert problem["description"].startswith("is not a query parameter of this route; it takes: ")
    assert served.script.seen == []


@pytest.mark.parametrize(
    ("method", "path"), [route for route in routes() if in_openais_form(route[1])]
)
async def test_openai_routes_refuse_an_undeclared_parameter_in_openais_form(
    served: Served, method: str, path: str
) -> None:
    response = await served.http.request(method, path, params={"limt": "5"})
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == (400, "invalid_request_error")
    assert (error["code"], error["param"]) == ("invalid_field", "limt")
    assert "limt: is not a query parameter of this route; it takes: " in error["message"]
    assert served.script.seen == []


async def test_the_error_lists_the_declared_parameters(served: Served) -> None:
    response = await served.http.get("/api/graph/entities?kind=Person")
    (problem,) = response.json()["fields"]
    assert problem["field"] == "kind"
    assert "type" in problem["description"]
    assert "limit" in problem["description"]


async def test_each_undeclared_parameter_is_named_once(served: Served) -> None:
    response = await served.http.get("/api/documents?a=1&limit=5&b=2&b=3")
    assert [problem["field"] for problem in response.json()["fields"]] == ["a", "b"]


async def test_declared_parameters_are_accepted(served: Served) -> None:
    served.script.answer("ListEntities", query_pb2.ListEntitiesResponse())
    served.script.answer("ListDocuments", documents_pb2.ListDocumentsResponse())
    assert (await served.http.get("/api/graph/entities?type=A&limit=5&cursor=")).status_code == 200
    assert (await served.http.get("/api/documents?")).status_code == 200


async def test_the_number_of_named_parameters_is_limited(served: Served) -> None:
    query = "&".join(f"p{number}=1" for number in range(3 * MAX_PROBLEMS))
    response = await served.http.get(f"/api/documents?{query}")
    assert len(response.json()["fields"]) == MAX_PROBLEMS


@pytest.mark.parametrize("name", ["", "x" * 5000])
async def test_a_parameter_whose_name_cannot_be_shown_is_reported_as_query(
    served: Served, name: str
) -> None:
    response = await served.http.get("/api/documents", params={name: "1"})
    assert [problem["field"] for problem in response.json()["fields"]] == ["query"]


class Page(BaseModel):
    """Parameters as one model."""

    limit: int = 5
    go_on: str = ""


async def sorted_by(order: str = "") -> str:
    """A parameter of a dependency."""
    return order


async def test_parameters_of_dependencies_and_models_are_declared_too() -> None:
    router = APIRouter(dependencies=[ONLY_DECLARED_PARAMETERS])

    @router.get("/")
    async def listing(
        page: Annotated[Page, Query()],
        order: Annotated[str, Depends(sorted_by)],
        kind: Annotated[str, Query(alias="type")] = "",
    ) -> Any:
        return Response(f"{page.limit} {order} {kind}")

    app = FastAPI()
    app.include_router(router)
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
        response = await http.get("/?limit=3&go_on=a&order=name&type=b")
        assert response.text == "3 name b"
        with pytest.raises(InvalidFieldError, match="kind"):
            await http.get("/?kind=b")
