"""The SDK's own client, connected to a gateway over streamable HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

Era = Literal["legacy", "auto"]


@asynccontextmanager
async def http_client(
    url: str, key: str = "", era: Era = "auto", query: str = "", seconds: float = 20
) -> AsyncIterator[Client]:
    """Opens a client of `/mcp`; `era` is the generation of the protocol: `auto` selects the latest one."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=seconds) as http:
        transport = streamable_http_client(f"{url}/mcp{query}", http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


def value_of(result: CallToolResult) -> dict[str, Any]:
    """Returns a result's structured content, which its text must equal."""
    assert not result.is_error, text_of(result)
    value = result.structured_content
    assert isinstance(value, dict)
    assert json.loads(text_of(result)) == value
    return value


def text_of(result: CallToolResult) -> str:
    """Returns a result's text."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def failure_of(result: CallToolResult) -> str:
    """Returns the text of a result that is an error."""
    assert result.is_error
    return text_of(result)
