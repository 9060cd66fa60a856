"""All operations of Braid: each RPC, each endpoint of the OpenAPI document, each tool and resource of MCP."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import grpc
import httpx2
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from braid_protocol.errors import failure_of
from braid_protocol.idempotency import is_read
from deploy.local.stack import LocalStack
from services.runtime.channels import open_channel
from tests.benchmarks.isolation.detector import NOT_SENT, Outcome, legs_in_order
from tests.benchmarks.isolation.messages import Requests, all_methods
from tests.benchmarks.isolation.people import Person
from tests.benchmarks.isolation.schemas import Schemas
from tests.benchmarks.isolation.values import Given, is_id, is_second_id, is_words, text_for

SECONDS = 15.0
_STREAMED = 30
ATTEMPTS = 8
# The processes that serve each package of the contracts.
_PROCESSES = {"agent": "agent_orchestrator", "graph": "graph_query", "vector": "vector_search"}
_READS = ("/search", "/query")

# Signs of invalid arguments in a tool's response.
_FORM = re.compile(r"INVALID_FIELD|\bmust\b|is needed|goes without|not a valid")
_REQUEST = re.compile(r"\(?,? ?request [0-9a-f]{32}\)?|\d+(\.\d+)? ms")

Call = Callable[[Person, Given], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that a caller can do; `takes_ids` is whether its requests can contain ids, `takes_words` texts."""

    name: str
    changes: bool
    takes_ids: bool
    call: Call
    takes_words: bool = False


@asynccontextmanager
async def open_operations(
    stack: LocalStack, people: list[Person]
) -> AsyncIterator[list[Operation]]:
    """Yields all operations of a running stack."""
    url = f"http://{stack.addresses['gateway']}"
    async with AsyncExitStack() as exits:
        http = await exits.enter_async_context(httpx2.AsyncClient(base_url=url, timeout=SECONDS))
        channels = {
            package: await exits.enter_async_context(
                open_channel(stack.addresses[process], retry=False)
            )
            for package, process in _PROCESSES.items()
        }
        clients = {
            person.name: await exits.enter_async_context(mcp_client(url, person))
            for person in people
        }
        yield [
            *rpc_operations(channels),
            *rest_operations((await http.get("/openapi.json")).json(), http),
            *await mcp_operations(clients),
        ]


def rpc_operations(channels: Mapping[str, grpc.aio.Channel]) -> list[Operation]:
    """Returns an operation for each RPC of each contract."""
    requests = Requests()
    return [
        Operation(
            f"rpc {method.containing_service.full_name}/{method.name}",
            changes=not is_read(method),
            takes_ids=any(is_id(name) for name in _names(method.input_type)),
            call=_rpc(method, channels[method.full_name.split(".")[1]], requests),
            takes_words=any(is_words(name) for name in _names(method.input_type)),
        )
        for method in all_methods()
    ]


def _names(kind: Any, depth: int = 4) -> set[str]:
    found = {field.name for field in kind.fields}
    for field in kind.fields:
        if field.message_type is not None and depth:
            found |= _names(field.message_type, depth - 1)
    return found


def _rpc(method: MethodDescriptor, channel: grpc.aio.Channel, requests: Requests) -> Call:
    path = f"/{method.containing_service.full_name}/{method.name}"
    shape = ("stream" if method.client_streaming else "unary") + (
        "_stream" if method.server_streaming else "_unary"
    )
    stub = getattr(channel, shape)(
        path,
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=GetMessageClass(method.output_type).FromString,
    )

    async def call(person: Person, given: Given) -> Outcome:
        messages = requests.of(method, given)
        if any(requests.violations(message) for message in messages):
            return Outcome(NOT_SENT)
        metadata = (("authorization", f"Bearer {person.key}"),)
        sent = iter(messages) if method.client_streaming else messages[0]
        answers: list[Any] = []
        try:
            running = stub(sent, metadata=metadata, timeout=SECONDS)
            if method.server_streaming:
                async for answer in running:
                    answers.append(_json(answer))
                    if len(answers) == _STREAMED:
                        running.cancel()
                        break
            else:
                answers.append(_json(await running))
        except grpc.aio.AioRpcError as error:
            failure = failure_of(error)
            refusal = [failure.reason, failure.message, failure.metadata, list(failure.fields)]
            return Outcome(error.code().name, [*answers, *without_request_ids(refusal)])
        return Outcome("OK", legs_in_order(answers))

    return call


def _json(message: Message) -> Any:
    return MessageToDict(message, preserving_proto_field_name=True)


def without_request_ids(refusal: list[Any]) -> list[Any]:
    """Removes request ids from the parts of a response."""
    return [
        {k: v for k, v in part.items() if k != "request_id"} if isinstance(part, dict) else part
        for part in refusal
    ]


def rest_operations(document: Mapping[str, Any], http: httpx2.AsyncClient) -> list[Operation]:
    """Returns an operation for each endpoint of the OpenAPI document."""
    schemas = Schemas(document)
    return [
        Operation(
            f"rest {verb.upper()} {path}",
            changes=verb != "get" and not any(part in path for part in _READS),
            takes_ids="{" in path
            or any(is_id(one["name"]) for one in _parameters(operation))
            or schemas.takes_ids(_body(operation)),
            call=_rest(verb, path, operation, schemas, http),
            takes_words=any(is_words(one["name"]) for one in _parameters(operation))
            or schemas.takes_words(_body(operation)),
        )
        for path, operations in document["paths"].items()
        for verb, operation in operations.items()
        if verb in {"get", "post", "put", "patch", "delete"}
    ]


def _body(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the schema of the JSON body, empty without one."""
    content = operation.get("requestBody", {}).get("content", {})
    schema: Mapping[str, Any] = content.get("application/json", {}).get("schema", {})
    return schema


def _parameters(operation: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(operation.get("parameters", ()))


def _rest(
    verb: str, path: str, operation: Mapping[str, Any], schemas: Schemas, http: httpx2.AsyncClient
) -> Call:
    body = _body(operation) or None

    async def call(person: Person, given: Given) -> Outcome:
        outcome = Outcome(NOT_SENT)
        left_out: set[str] = set()
        for attempt in range(ATTEMPTS):
            place, query = _place(path, operation, schemas, given, attempt)
            filled = None if body is None else schemas.fill(body, given, attempt=attempt)
            for name in left_out:
                query.pop(name, None)
                if isinstance(filled, dict):
                    filled.pop(name, None)
            answer = await http.request(
                verb, place, params=query, json=filled, headers=person.headers
            )
            outcome = Outcome(str(answer.status_code), _answer(answer))
            if outcome.accepted:
                break
            left_out |= _wrong_optional(outcome.body, body, operation, schemas)
        return outcome

    return call


def _place(
    path: str, operation: Mapping[str, Any], schemas: Schemas, given: Given, attempt: int
) -> tuple[str, dict[str, Any]]:
    """Returns the path and the query of a request."""
    query = {}
    for parameter in _parameters(operation):
        name, where = parameter["name"], parameter["in"]
        value = schemas.fill(parameter.get("schema", {}), given, name, attempt)
        if where == "path":
            # The path contains the tried id, or the name of a thing.
            path = path.replace(f"{{{name}}}", quote(_named(name, given), safe=""))
        elif where == "query" and (parameter.get("required") or is_id(name) or name == "query"):
            query[name] = value
    return path, query


def _named(parameter: str, given: Given) -> str:
    if parameter == "model":
        return text_for(parameter, given)
    if is_second_id(parameter):
        return given.second
    return given.words if parameter == "entity" else given.id


def _wrong_optional(
    answer: Any, body: Any, operation: Mapping[str, Any], schemas: Schemas
) -> set[str]:
    """Returns optional fields that the response reports as wrong; the next attempt omits them."""
    fields = answer.get("fields", ()) if isinstance(answer, dict) else ()
    wrong = {str(one["field"]).split(".")[0].split("[")[0] for one in fields}
    required = set(schemas.resolve(body).get("required", ())) if body else set()
    required |= {one["name"] for one in _parameters(operation) if one.get("required")}
    return wrong - required


def _answer(answer: httpx2.Response) -> Any:
    try:
        return answer.json()
    except json.JSONDecodeError:
        return legs_in_order([_event(one) for one in answer.text.split("\n\n")])


def _event(text: str) -> Any:
    """Parses an event of a stream: its name and its decoded data."""
    lines = dict(line.partition(": ")[::2] for line in text.splitlines())
    try:
        return {lines.get("event", "event"): json.loads(lines["data"])}
    except (KeyError, json.JSONDecodeError):
        return {"text": text}


async def mcp_operations(clients: Mapping[str, Client]) -> list[Operation]:
    """Returns an operation for each tool of the full profile and each resource template; `clients` are by person."""
    client = next(iter(clients.values()))
    tools = (await client.list_tools()).tools
    templates = (await client.list_resource_templates()).resource_templates
    found = [
        Operation(
            f"tool {tool.name}",
            changes=not (tool.annotations and tool.annotations.read_only_hint),
            takes_ids=Schemas(tool.input_schema).takes_ids(tool.input_schema),
            call=_tool(clients, tool.name, tool.input_schema),
            takes_words=Schemas(tool.input_schema).takes_words(tool.input_schema),
        )
        for tool in tools
    ]
    return [
        *found,
        *(
            Operation(
                f"resource {template.uri_template}",
                changes=False,
                takes_ids=True,
                call=_resource(clients, template.uri_template),
            )
            for template in templates
        ),
        Operation("resources", changes=False, takes_ids=False, call=_resources(clients)),
    ]


@asynccontextmanager
async def mcp_client(url: str, person: Person) -> AsyncIterator[Client]:
    """Opens a client with the person's key and the profile that has every tool."""
    async with httpx2.AsyncClient(timeout=SECONDS, headers=person.headers) as http:
        transport = streamable_http_client(f"{url}/mcp?profile=all", http_client=http)
        async with Client(transport) as client:
            yield client


def _tool(clients: Mapping[str, Client], name: str, schema: Mapping[str, Any]) -> Call:
    schemas = Schemas(schema)

    async def call(person: Person, given: Given) -> Outcome:
        outcome = Outcome(NOT_SENT)
        for attempt in range(ATTEMPTS):
            arguments = schemas.fill(schema, given, attempt=attempt)
            try:
                result = await clients[person.name].call_tool(name, arguments)
            except MCPError as error:
                return Outcome("error", _error_text(error))
            texts = [_REQUEST.sub("", getattr(part, "text", "")) for part in result.content]
            outcome = Outcome("refused" if result.is_error else "OK", texts)
            if not (result.is_error and _FORM.search(texts[0])):
                return outcome
        return Outcome(NOT_SENT, outcome.body)

    return call


def _error_text(error: MCPError) -> str:
    return _REQUEST.sub("", str(error))


def _resource(clients: Mapping[str, Client], template: str) -> Call:
    async def call(person: Person, given: Given) -> Outcome:
        named = given.words if template.endswith("{name}") else given.id
        place = template.partition("{")[0] + quote(named, safe="")
        try:
            result = await clients[person.name].read_resource(place)
        except MCPError as error:
            return Outcome("refused", _error_text(error))
        return Outcome("OK", [getattr(part, "text", "") for part in result.contents])

    return call


def _resources(clients: Mapping[str, Client]) -> Call:
    async def call(person: Person, _given: Given) -> Outcome:
        try:
            result = await clients[person.name].list_resources()
        except MCPError as error:
            return Outcome("refused", _error_text(error))
        return Outcome("OK", [str(one.uri) + str(one.name) for one in result.resources])

    return call


async def outcome_of(operation: Operation, person: Person, given: Given) -> Outcome:
    """Returns the outcome of a call, also if it times out."""
    try:
        async with asyncio.timeout(2 * SECONDS):
            return await operation.call(person, given)
    except (TimeoutError, httpx2.HTTPError) as error:
        return Outcome("late", type(error).__name__)
