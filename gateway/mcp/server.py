"""The MCP server: the SDK's protocol around Braid's tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)
from pydantic import ValidationError

from gateway.clients import Clients
from gateway.mcp import prompts, resources
from gateway.mcp.calls import ConnectionContext, ToolCall, error_text
from gateway.mcp.registry import Registry, Tool
from gateway.mcp.results import ToolResult, text_of
from gateway.rest.mapping.validation_errors import invalid
from gateway.settings import GatewaySettings
from services.runtime.errors import BraidError, InternalError
from services.runtime.status import reason_name
from services.runtime.telemetry import get_logger
from services.runtime.version import VERSION

_INSTRUCTIONS = (
    "Braid answers from documents and a knowledge graph whose facts are dated. Use `search` for passages, `facts` and "
    "`entity` for who, what and when, `changes` for what was different at another time, `ask` for a finished answer "
    "with sources, `memory` for what this user said before. Every answer names the space and the time that it is "
    "about. `no_match` means that everything was searched; `could_not_search` means that nothing is known. Longer "
    "answers go on with `next_cursor`."
)
Context = ServerRequestContext[Any, Any]
ConnectionContextOf = Callable[[Context], ConnectionContext]


def build_server(
    clients: Clients, settings: GatewaySettings, connection_context_of: ConnectionContextOf
) -> Server[Any]:
    """Builds the server over `clients`; `connection_context_of` returns the caller's context."""
    handlers = _Handlers(clients, settings, connection_context_of, Registry())
    return Server(
        "braid",
        title="Braid",
        version=VERSION,
        instructions=_INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


@dataclass(frozen=True, slots=True)
class _Handlers:
    clients: Clients
    settings: GatewaySettings
    connection_context_of: ConnectionContextOf
    registry: Registry

    async def list_tools(
        self, context: Context, _: PaginatedRequestParams | None
    ) -> ListToolsResult:
        names = self._names(self.connection_context_of(context))
        return ListToolsResult(tools=[self.registry.description(name) for name in names])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        connection = self.connection_context_of(context)
        tool = self._tool(params.name, connection)
        try:
            result = await _run(tool, params.arguments or {}, self._call(context, connection))
        except BraidError as error:
            return _failed(error, connection)
        except Exception as error:  # noqa: BLE001 - logged whole, answered with a fixed sentence
            request_id = connection.caller.state.request_id
            get_logger("mcp").error("defect", request_id=request_id, exc_info=error)
            return _failed(InternalError(), connection)
        text = TextContent(type="text", text=text_of(result))
        structured = result.model_dump(mode="json", exclude_none=True)
        return CallToolResult(content=[text], structured_content=structured)

    async def list_resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        cursor = params.cursor if params else None
        connection = self.connection_context_of(context)
        try:
            return await resources.list_documents(cursor, self._call(context, connection))
        except BraidError as error:
            raise _protocol_error(error, connection) from None

    async def list_resource_templates(
        self, _: Context, __: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read_resource(
        self, context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        connection = self.connection_context_of(context)
        try:
            return await resources.read(str(params.uri), self._call(context, connection))
        except BraidError as error:
            raise _protocol_error(error, connection) from None

    async def list_prompts(
        self, _: Context, __: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return ListPromptsResult(prompts=prompts.prompts())

    async def get_prompt(self, _: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return prompts.prompt(params.name, params.arguments or {})

    def _names(self, connection: ConnectionContext) -> list[str]:
        scopes = connection.caller.identity.scopes
        return self.registry.names(
            connection.profile, read_only=connection.read_only, scopes=scopes
        )

    def _tool(self, name: str, connection: ConnectionContext) -> Tool:
        names = self._names(connection)
        tool = self.registry.find(name)
        if tool is not None and name in names:
            return tool
        raise MCPError(INVALID_PARAMS, _no_tool(tool, connection, names))

    def _call(self, context: Context, connection: ConnectionContext) -> ToolCall:
        return ToolCall(
            connection.caller, self.clients, self.settings, context.session.report_progress
        )


async def _run(tool: Tool, given: Mapping[str, Any], call: ToolCall) -> ToolResult:
    try:
        arguments = tool.arguments.model_validate(given)
        return await tool.run(arguments, call)
    except ValidationError as error:
        # Below `body`, because an argument named `query` would be mistaken for the query string.
        problems = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise invalid(problems) from None


def _no_tool(tool: Tool | None, connection: ConnectionContext, names: list[str]) -> str:
    there_are = f"there are: {', '.join(names)}"
    if tool is None:
        return f"There is no tool of this name; {there_are}."
    if tool.writes and connection.profile in tool.listings:
        return f"`{tool.name}` writes, and this connection may only read; {there_are}."
    return f"`{tool.name}` is not in this profile (see `?profile=`); {there_are}."


def _failed(error: BraidError, connection: ConnectionContext) -> CallToolResult:
    text = error_text(error, reason_name(error), connection.caller.state.request_id)
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _protocol_error(error: BraidError, connection: ConnectionContext) -> MCPError:
    reason = reason_name(error)
    theirs = reason in ("INVALID_FIELD", "NOT_FOUND", "MISSING_SCOPE")
    code = INVALID_PARAMS if theirs else INTERNAL_ERROR
    return MCPError(code, error_text(error, reason, connection.caller.state.request_id))
