"""The routes that the contract declares: a method with the option `rest` is called with the values of one request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from google.protobuf.message_factory import GetMessageClass
from starlette.responses import Response

from braid.agent.v1 import (
    agent_pb2,
    consistency_pb2,
    entity_memory_pb2,
    jobs_pb2,
    memories_pb2,
    models_pb2,
    profile_pb2,
    sources_pb2,
    spaces_pb2,
    transfer_pb2,
)
from braid.common.v1 import json_pb2, options_pb2
from braid.graph.v1 import entities_pb2, ingest_pb2, query_pb2
from braid.vector.v1 import documents_pb2, search_pb2
from braid_protocol.contract_rules import is_required
from gateway.rest.http.calls import CallerDep, ClientsDep, UploaderDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.jobs import location
from gateway.rest.mapping.comments import comment_on, described
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.entities import entity_in_path, entity_selector, required_entity
from gateway.rest.mapping.message_json import json_name, message_of, respond
from gateway.rest.mapping.message_requests import (
    assign,
    assign_message,
    body_model,
    example_of,
    field_type,
    given_fields,
    names_of,
)
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
    from google.protobuf.message import Message

    from gateway.rest.mapping.field_names import Named

# The stubs in `Clients`, in the order of the OpenAPI document.
_STUBS = {
    "agent": agent_pb2.DESCRIPTOR.services_by_name["AgentService"],
    "graph": query_pb2.DESCRIPTOR.services_by_name["GraphQueryService"],
    "graph_ingest": ingest_pb2.DESCRIPTOR.services_by_name["GraphIngestService"],
    "sources": sources_pb2.DESCRIPTOR.services_by_name["SourceService"],
    "documents": documents_pb2.DESCRIPTOR.services_by_name["DocumentService"],
    "chunks": search_pb2.DESCRIPTOR.services_by_name["VectorSearchService"],
    "memories": memories_pb2.DESCRIPTOR.services_by_name["MemoryService"],
    "jobs": jobs_pb2.DESCRIPTOR.services_by_name["JobService"],
    "consistency": consistency_pb2.DESCRIPTOR.services_by_name["ConsistencyService"],
    "models": models_pb2.DESCRIPTOR.services_by_name["ModelService"],
    "transfer": transfer_pb2.DESCRIPTOR.services_by_name["SpaceTransferService"],
    "spaces": spaces_pb2.DESCRIPTOR.services_by_name["SpaceService"],
    "profile": profile_pb2.DESCRIPTOR.services_by_name["ProfileService"],
    "entity_memory": entity_memory_pb2.DESCRIPTOR.services_by_name["EntityMemoryService"],
}
_ENTITY = entities_pb2.EntitySelector.DESCRIPTOR.full_name
# An entity in a query string: a parameter for its name, one for its type and one for its uuid.
_ENTITY_SUFFIXES = {"name": "", "type": "_type", "id": "_uuid"}
_IN_PATH = re.compile(r"\{([a-z_]{1,50})[:}]")
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_WITH_QUERY = frozenset({"get", "delete"})


@dataclass(frozen=True, slots=True)
class _Given:
    """Parameters of a route, and how their values are given to the request."""

    parameters: tuple[Parameter, ...]
    give: Callable[..., None]


@dataclass(frozen=True, slots=True)
class _Route:
    """A method and its route."""

    stub: str
    method: MethodDescriptor
    rest: json_pb2.RestRoute

    @property
    def verb(self) -> str:
        """Returns the verb in lower case."""
        return str(self.rest.WhichOneof("route"))

    @property
    def path(self) -> str:
        """Returns the path."""
        return str(getattr(self.rest, self.verb))

    @property
    def operation(self) -> str:
        """Returns the operation's name, in lower case with underscores."""
        return self.rest.operation or _CAPITAL.sub("_", self.method.name).lower()

    def add_to(self, router: APIRouter) -> None:
        """Adds the route to a router, and where the contract says so a second one without `/api`."""
        status = self.rest.status or HTTPStatus.OK
        answer = self.method.output_type
        if self.rest.response_field:
            answer = message_of(answer.fields_by_name[self.rest.response_field])
        empty = not answer.fields
        takes_body, endpoint = self._endpoint()
        roots = (self.path, self.path.removeprefix("/api"))
        for path in roots if self.rest.also_at_root else roots[:1]:
            router.add_api_route(
                path,
                endpoint,
                methods=[self.verb.upper()],
                name=self.operation,
                description=comment_on(self.method.full_name),
                tags=[self.rest.tag],
                status_code=HTTPStatus.NO_CONTENT if empty else status,
                response_class=Response if empty else router.default_response_class,
                responses={} if empty else shown(GetMessageClass(answer), status),
                dependencies=[JSON_BODY_ONLY] if takes_body else None,
            )

    def _endpoint(self) -> tuple[bool, Callable[..., Awaitable[Response]]]:
        """Returns whether there is a body, and the function that FastAPI calls with the values of a request."""
        request = GetMessageClass(self.method.input_type)
        given = list(self._given())
        parameters = [parameter for one in given for parameter in one.parameters]
        body = self._body()
        service = self.method.containing_service.full_name
        full_name = f"/{service}/{self.method.name}"
        named = partial(
            self._caller_name, names_of(self.method.input_type, {_ENTITY: _ENTITY_SUFFIXES})
        )

        async def call(
            caller: CallerDep, clients: ClientsDep, body: Any = None, **values: Any
        ) -> Response:
            message = request() if body is None else body.message()
            for one in given:
                one.give(message, *(values[parameter.name] for parameter in one.parameters))
            stub = getattr(getattr(clients, self.stub), self.method.name)
            return self._response(await caller.call(full_name, stub, message, named))

        caller = UploaderDep if self.rest.long else CallerDep
        signature = [_keyword("caller", caller), _keyword("clients", ClientsDep)]
        signature += parameters
        if body is not None:
            signature.append(_keyword("body", *body))
        call.__signature__ = Signature(signature, return_annotation=Response)  # type: ignore[attr-defined]
        scope = self.method.GetOptions().Extensions[options_pb2.required_scope]
        call.scope = options_pb2.Scope.Name(scope).removeprefix("SCOPE_").lower()  # type: ignore[attr-defined]
        return body is not None, call

    def _response(self, answer: Any) -> Response:
        if self.rest.response_field:
            answer = getattr(answer, self.rest.response_field)
        if not answer.DESCRIPTOR.fields:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        status = self.rest.status or HTTPStatus.OK
        headers = location(answer.job) if status == HTTPStatus.ACCEPTED else None
        return respond(answer, status, headers)

    def _given(self) -> Iterator[_Given]:
        in_query = self.rest.query or self.verb in _WITH_QUERY
        request = GetMessageClass(self.method.input_type)
        for field in given_fields(self.method.input_type):
            name = self._name_in_path(field)
            if name is not None and _is_entity(field):
                yield _entity_in_path(field, name)
            elif name is not None:
                yield _simple(request, field, partial(Path, alias=name))
            elif in_query and _is_entity(field):
                yield _entity(field)
            elif in_query:
                yield _simple(request, field, partial(Query, alias=json_name(field)))

    def _caller_name(self, named: Named, path: str) -> str:
        """Returns the name of a parameter; the type of an entity in the path is the parameter `type`."""
        field, _, step = path.partition(".")
        given = self.method.input_type.fields_by_name.get(field)
        if given is None or not _is_entity(given) or self._name_in_path(given) is None:
            return named(path)
        return "type" if step == "type" else json_name(given)

    def _name_in_path(self, field: FieldDescriptor) -> str | None:
        names = {json_name(field), field.name} & set(_IN_PATH.findall(self.path))
        return names.pop() if names else None

    def _body(self) -> tuple[Any, Any] | None:
        shape = self.method.input_type
        elsewhere = frozenset(one.name for one in shape.fields if self._name_in_path(one))
        if (
            self.rest.query
            or self.verb in _WITH_QUERY
            or len(elsewhere) == len(given_fields(shape))
        ):
            return None
        model = body_model(shape, elsewhere)
        optional = self.verb == "post" and not any(
            field.is_required() for field in model.model_fields.values()
        )
        return (model | None, None) if optional else (model, Parameter.empty)


def _is_entity(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.full_name == _ENTITY


def _keyword(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _simple(request: type[Message], field: FieldDescriptor, place: partial[Any]) -> _Given:
    """Returns the parameter of a field that is one value or a list."""
    kind = field_type(field, in_json=False)
    default: Any = Parameter.empty
    if place.func is Query and not is_required(field):
        default = _default(field)
        kind = kind if default is not None else kind | None
    about = place(description=described(field), **example_of(field))
    bounds = Bounds(request, field.name)
    parameter = _keyword(field.name, Annotated[kind, bounds, about], default)
    return _Given((parameter,), partial(_give, field))


def _give(field: FieldDescriptor, message: Message, value: Any) -> None:
    assign(message, field, value)


def _default(field: FieldDescriptor) -> Any:
    plain = field.message_type is None and field.enum_type is None
    return field.default_value if plain and not field.has_presence | field.is_repeated else None


def _entity(field: FieldDescriptor) -> _Given:
    """Returns the parameters that select an entity."""
    place = json_name(field)
    texts = {
        "name": described(field),
        "type": f"The type of `{place}`, where several entities share the name.",
        "id": f"The uuid of an entity, instead of `{place}`.",
    }
    parameters = []
    for step, text in texts.items():
        bounds = Bounds(entities_pb2.EntitySelector, step)
        example = example_of(field) if step == "name" else {}
        about = Query(alias=place + _ENTITY_SUFFIXES[step], description=text, **example)
        parameters.append(
            _keyword(f"{field.name}_{step}", Annotated[str | None, bounds, about], None)
        )
    select = required_entity if is_required(field) else entity_selector
    return _Given(tuple(parameters), partial(_give_entity, field, partial(select, place)))


def _entity_in_path(field: FieldDescriptor, name: str) -> _Given:
    """Returns the parameters of an entity whose name, or uuid, is in the path."""
    selector = entities_pb2.EntitySelector
    about = Path(
        alias=name,
        description=f"{described(field)} Its name, any case, or its uuid with `by=uuid`.",
        **example_of(field),
    )
    by = Query(alias="by", description="What the path names the entity by.")
    kind = Query(alias="type", description="Its type, where several share a name.")
    parameters = (
        _keyword(f"{field.name}_name", Annotated[str, Bounds(selector, "name"), about]),
        _keyword(f"{field.name}_by", Annotated[Literal["name", "uuid"], by], "name"),
        _keyword(f"{field.name}_type", Annotated[str, Bounds(selector, "type"), kind], ""),
    )
    return _Given(parameters, partial(_give_entity, field, entity_in_path))


def _give_entity(
    field: FieldDescriptor, select: Callable[..., Any], message: Message, *values: Any
) -> None:
    assign_message(message, field, select(*values))


@cache
def contract_router() -> APIRouter:
    """Returns a router with all routes that the contract declares; paths without parameters come first.

    It is made once in a process, because it takes half a second.
    """
    router = APIRouter(route_class=ScopedRoute, responses=problems())
    routes = [
        _Route(stub, method, method.GetOptions().Extensions[json_pb2.rest])
        for stub, service in _STUBS.items()
        for method in service.methods
        if method.GetOptions().HasExtension(json_pb2.rest)
    ]
    for route in sorted(routes, key=lambda one: "{" in one.path):
        route.add_to(router)
    return router
