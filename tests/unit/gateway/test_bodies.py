"""Where bodies are parsed: long ones beside the event loop."""

from __future__ import annotations

from threading import get_ident

import pytest

from gateway.rest.bodies import MOST_AT_ONCE, parsed


@pytest.mark.parametrize(("size", "beside"), [(MOST_AT_ONCE, False), (MOST_AT_ONCE + 1, True)])
async def test_a_long_body_is_parsed_in_a_thread(size: int, beside: bool) -> None:
    thread = await parsed(lambda _body: get_ident(), b"x" * size)
    assert (thread != get_ident()) is beside


@pytest.mark.parametrize("size", [1, MOST_AT_ONCE + 1])
async def test_what_is_wrong_with_a_body_is_told_whatever_its_length(size: int) -> None:
    def refuse(_body: bytes) -> None:
        raise ValueError("is wrong")

    with pytest.raises(ValueError, match="is wrong"):
        await parsed(refuse, b"x" * size)
