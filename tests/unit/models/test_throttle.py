"""Shares of one provider: rates of their own, one circuit, one pause."""

from __future__ import annotations

import asyncio

import pytest

from services.models.breaker import CircuitOpen
from services.models.language.limited_model import Limits
from services.models.throttle import Throttle


async def test_a_pause_of_one_share_is_that_of_the_other() -> None:
    background = Throttle(Limits())
    questions = background.share(Limits())
    background.pause.extend(60.0)
    with pytest.raises(CircuitOpen) as caught:
        async with questions.attempt(1, lambda _: True, max_wait=1.0):
            raise AssertionError("unreachable")
    assert 59 < caught.value.retry_after <= 60


async def test_a_short_pause_is_waited_for() -> None:
    throttle = Throttle(Limits())
    throttle.pause.extend(0.01)
    async with throttle.attempt(1, lambda _: True, max_wait=1.0):
        assert throttle.pause.left() <= 0


async def test_a_full_share_does_not_hold_up_the_other() -> None:
    background = Throttle(Limits(max_concurrent=1))
    questions = background.share(Limits(max_concurrent=1))
    async with asyncio.timeout(5):
        async with background.attempt(1, lambda _: True), questions.attempt(1, lambda _: True):
            pass


async def test_what_opens_the_circuit_for_one_share_opens_it_for_all() -> None:
    background = Throttle(Limits())
    questions = background.share(Limits())
    for _ in range(5):
        with pytest.raises(OSError, match="down"):
            async with background.attempt(1, lambda _: True):
                raise OSError("down")
    with pytest.raises(CircuitOpen):
        async with questions.attempt(1, lambda _: True):
            raise AssertionError("unreachable")
