"""Shares of one provider have their own rate limits but a common circuit and pause."""

from __future__ import annotations

import asyncio

import pytest

from services.models.breaker import CircuitOpen
from services.models.language.limited_model import Limits
from services.models.throttle import Throttle


async def test_a_pause_of_one_share_applies_to_the_other() -> None:
    background = Throttle(Limits())
    questions = background.share(Limits())
    background.pause.extend(60.0)
    with pytest.raises(CircuitOpen) as caught:
        async with questions.attempt(1, lambda _: True, max_wait=1.0):
            raise AssertionError("unreachable")
    assert 59 < caught.value.retry_after <= 60


async def test_a_call_waits_for_a_short_pause() -> None:
    throttle = Throttle(Limits())
    throttle.pause.extend(0.01)
    async with throttle.attempt(1, lambda _: True, max_wait=1.0):
        assert throttle.pause.left() <= 0


async def test_a_full_share_does_not_block_the_other() -> None:
    background = Throttle(Limits(max_concurrent=1))
    questions = background.share(Limits(max_concurrent=1))
    async with asyncio.timeout(5):
        async with background.attempt(1, lambda _: True), questions.attempt(1, lambda _: True):
            pass


async def test_an_open_circuit_of_one_share_applies_to_all_shares() -> None:
    background = Throttle(Limits())
    questions = background.share(Limits())
    for _ in range(5):
        with pytest.raises(OSError, match="down"):
            async with background.attempt(1, lambda _: True):
                raise OSError("down")
    with pytest.raises(CircuitOpen):
        async with questions.attempt(1, lambda _: True):
            raise AssertionError("unreachable")
