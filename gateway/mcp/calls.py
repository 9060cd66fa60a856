"""One request of an assistant: its caller, its tools and its RPCs."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from gateway.mcp.cursors import Cursor
from gateway.rest.http.calls import Caller
from gateway.rest.mapping.entities import graph_name

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from pydantic import BaseModel

    from gateway.clients import Clients
    from gateway.rest.mapping.field_names import Named
    from gateway.settings import GatewaySettings
    from services.runtime.errors import BraidError

Profile = Literal["default", "all"]
Progress = Callable[[float, float | None, str], Awaitable[None]]
_NAMED = graph_name()
Answer = TypeVar("Answer")


class ToolCaller(Caller):
    """The caller of a tool. The SDK cancels a tool's task when its client leaves, which cancels the RPC."""

    @asynccontextmanager
    async def cancel_on_disconnect(self, cancel: Callable[[], Any]) -> AsyncIterator[None]:  # noqa: ARG002 - see above
        """Does nothing: only the SDK may read the connection's messages."""
        yield

    def _key(self, method: str) -> str:  # noqa: ARG002 - a connection's header is not of one call
        return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class ConnectionContext:
    """The connection's caller, and the options in its address."""

    caller: ToolCaller
    profile: Profile = "default"
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The context of a tool call."""

    caller: ToolCaller
    clients: Clients
    settings: GatewaySettings
    progress: Progress

    @property
    def space(self) -> str:
        """Returns the space of the caller's credential."""
        return self.caller.identity.space

    def within(self, seconds: float) -> ToolCall:
        """Returns the same call with another time limit for each RPC."""
        caller = self.caller
        limited = ToolCaller(
            caller.request, caller.state, caller.identity, caller.outgoing, seconds
        )
        return ToolCall(limited, self.clients, self.settings, self.progress)

    async def rpc(
        self,
        method: str,
        stub: Callable[..., Awaitable[Answer]],
        message: Message,
        named: Named = _NAMED,
    ) -> Answer:
        """Returns the answer of an RPC. Raises the services' typed error, with the tools' field names."""
        return await self.caller.call(method, stub, message, named)

    def cursor(self, arguments: BaseModel) -> Cursor:
        """Returns the cursors for these arguments: cursors of other queries and other callers are refused."""
        identity = self.caller.identity
        query = arguments.model_dump(mode="json", exclude={"cursor"})
        return Cursor(
            json.dumps(
                [type(arguments).__name__, identity.space, identity.user, query], sort_keys=True
            )
        )


def error_text(error: BraidError, reason: str, request_id: str) -> str:
    """Returns the message of a failure, for the model and for users."""
    wait = f" Try again in {error.retry_after:g} s." if error.retry_after else ""
    return f"{error.message} ({reason}, request {request_id}).{wait}"
