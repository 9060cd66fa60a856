"""MCP over standard input and output: forwards each message to a gateway's `/mcp`, and its answers to the client.

When a client cancels a request or disconnects, the connection to the gateway closes, which ends the request there.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp.server.stdio import stdio_server
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

_CANCELLED = "notifications/cancelled"
# Longer than any tool may run.
_TIMEOUT = httpx2.Timeout(660.0, connect=5.0)
_EVENT_STREAM = "text/event-stream"
Send = Callable[[JSONRPCMessage], Awaitable[None]]


async def serve_stdio(url: str, key: str, tls: ssl.SSLContext | None = None) -> None:
    """Serves the client at this process's standard input and output until it closes them.

    `tls` is the TLS context for an https gateway; by default the system's certificate authorities are trusted.
    """
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(
            headers=headers, timeout=_TIMEOUT, trust_env=False, verify=tls or True
        ) as http,
        stdio_server() as (incoming, outgoing),
        # Its writer ends when there is nothing more to write.
        outgoing,
    ):

        async def send(message: JSONRPCMessage) -> None:
            await outgoing.send(SessionMessage(message))

        async with asyncio.TaskGroup() as tasks:
            bridge = Bridge(url, http, send)
            async for item in incoming:
                if isinstance(item, Exception):
                    await send(_error(None, PARSE_ERROR, "The line is not a JSON-RPC message."))
                else:
                    bridge.take(item.message, tasks)
            bridge.leave()


@dataclass(slots=True)
class Bridge:
    """Forwards a client's messages, each in its own task."""

    url: str
    http: httpx2.AsyncClient
    send: Send
    _protocol_version: str | None = field(default=None, init=False)
    _running: dict[RequestId, asyncio.Task[None]] = field(default_factory=dict, init=False)

    def take(self, message: JSONRPCMessage, tasks: asyncio.TaskGroup) -> None:
        """Forwards a message, or ends the request that it cancels."""
        if isinstance(message, JSONRPCRequest):
            task = tasks.create_task(self._ask(message))
            self._running[message.id] = task
            task.add_done_callback(lambda _: self._running.pop(message.id, None))
        elif isinstance(message, JSONRPCNotification):
            if message.method == _CANCELLED:
                self._cancel((message.params or {}).get("requestId"))
            else:
                tasks.create_task(self._notify(message))

    def leave(self) -> None:
        """Ends all requests after the client has disconnected."""
        for task in list(self._running.values()):
            task.cancel()

    def _cancel(self, request_id: RequestId | None) -> None:
        task = self._running.get(request_id) if request_id is not None else None
        if task is not None:
            task.cancel()

    async def _ask(self, request: JSONRPCRequest) -> None:
        answered = False
        try:
            async with self.http.stream("POST", self.url, **self._post(request)) as response:
                async for message in _messages(response, request.id):
                    answered = answered or isinstance(message, JSONRPCResponse | JSONRPCError)
                    self._note_version(request, message)
                    await self.send(message)
        except (httpx2.HTTPError, ValidationError) as error:
            await self.send(_error(request.id, INTERNAL_ERROR, self._failure(error)))
            return
        if not answered:
            text = f"{self.url} ended its answer too early."
            await self.send(_error(request.id, INTERNAL_ERROR, text))

    def _failure(self, error: Exception) -> str:
        if isinstance(error, ValidationError):
            return f"{self.url} answered with what is not a JSON-RPC message."
        return f"{self.url} cannot be reached: {error or type(error).__name__}"

    async def _notify(self, notification: JSONRPCNotification) -> None:
        try:
            await self.http.post(self.url, **self._post(notification))
        except httpx2.HTTPError:
            return  # a notification has no answer; the next request reports the outage

    def _post(self, message: JSONRPCRequest | JSONRPCNotification) -> dict[str, Any]:
        headers = {
            "accept": f"application/json, {_EVENT_STREAM}",
            "content-type": "application/json",
        }
        params = message.params or {}
        meta = params.get("_meta") or {}
        version = meta.get(PROTOCOL_VERSION_META_KEY) or self._protocol_version
        if isinstance(version, str) and message.method != "initialize":
            headers[MCP_PROTOCOL_VERSION_HEADER] = version
        if PROTOCOL_VERSION_META_KEY in meta:
            headers[MCP_METHOD_HEADER] = message.method
            name = params.get(NAME_BEARING_METHODS.get(message.method, ""))
            if isinstance(name, str):
                headers[MCP_NAME_HEADER] = encode_header_value(name)
        content = message.model_dump_json(by_alias=True, exclude_unset=True)
        return {"content": content.encode(), "headers": headers}

    def _note_version(self, request: JSONRPCRequest, answer: JSONRPCMessage) -> None:
        if request.method == "initialize" and isinstance(answer, JSONRPCResponse):
            self._protocol_version = answer.result.get("protocolVersion")


async def _messages(
    response: httpx2.Response, request_id: RequestId
) -> AsyncIterator[JSONRPCMessage]:
    if response.headers.get("content-type", "").startswith(_EVENT_STREAM):
        async for event in httpx2.EventSource(response):
            if event.data:
                yield jsonrpc_message_adapter.validate_json(event.data, by_name=False)
        return
    body = await response.aread()
    try:
        message = jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValidationError:
        message = _problem(response, body, request_id)
    if isinstance(message, JSONRPCError) and message.id is None:
        message = JSONRPCError(jsonrpc="2.0", id=request_id, error=message.error)
    yield message


def _problem(response: httpx2.Response, body: bytes, request_id: RequestId) -> JSONRPCError:
    """Returns the gateway's own message for a refused request, such as for an unknown key."""
    try:
        problem = json.loads(body)
        text = f"{problem['detail']} ({problem['reason']}, request {problem['request_id']})"
    except (ValueError, KeyError, TypeError):
        text = f"{response.url} answered with status {response.status_code}: is it a Braid gateway?"
    return _error(request_id, INTERNAL_ERROR, text)


def _error(request_id: RequestId | None, code: int, text: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=text))
