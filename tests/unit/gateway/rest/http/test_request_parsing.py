"""Long request bodies are parsed in a thread, so that the event loop is not blocked."""

from __future__ import annotations

import asyncio
import json
from threading import Event, get_ident
from typing import Annotated

import pytest
from pydantic import AfterValidator, TypeAdapter

from gateway.rest.http.request_parsing import MAX_INLINE_BYTES, parse_in_thread


@pytest.mark.parametrize(
    ("size", "beside"), [(MAX_INLINE_BYTES, False), (MAX_INLINE_BYTES + 1, True)]
)
async def test_a_long_body_is_parsed_in_a_thread(size: int, beside: bool) -> None:
    thread = await parse_in_thread(lambda _body: get_ident(), b"x" * size)
    assert (thread != get_ident()) is beside


async def test_the_event_loop_runs_while_a_long_body_is_validated() -> None:
    loop_ran = Event()

    def check(value: str) -> str:
        assert loop_ran.wait(10)
        return value

    texts = ["x" * MAX_INLINE_BYTES, "y"]
    read = TypeAdapter(list[Annotated[str, AfterValidator(check)]]).validate_json
    asyncio.get_running_loop().call_soon(loop_ran.set)
    assert await parse_in_thread(read, json.dumps(texts).encode()) == texts


@pytest.mark.parametrize("size", [1, MAX_INLINE_BYTES + 1])
async def test_a_parsing_error_is_raised_for_a_body_of_any_length(size: int) -> None:
    def refuse(_body: bytes) -> None:
        raise ValueError("is wrong")

    with pytest.raises(ValueError, match="is wrong"):
        await parse_in_thread(refuse, b"x" * size)
