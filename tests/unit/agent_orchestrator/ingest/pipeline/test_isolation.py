"""Which items of a batch are to blame for a failure, and when the tier is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.pipeline import isolation
from services.agent_orchestrator.ingest.pipeline.isolation import Evidence, Isolation
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.runtime.errors import (
    FieldError,
    InternalError,
    InvalidFieldError,
    StoreUnavailableError,
)

pytestmark = pytest.mark.usefixtures("no_waits")


@pytest.fixture(scope="module")
def no_waits() -> Iterator[None]:
    """Lets an item be tried again at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolation, "AGAIN_SECONDS", 0.0)
        yield


class Tier:
    """A tier that fails for some items, in the way that each of them causes."""

    def __init__(self, broken: dict[int, Exception]) -> None:
        self.broken = broken
        self.accepted: set[int] = set()
        self.calls = 0

    async def add(self, items: Sequence[int]) -> None:
        self.calls += 1
        for item in items:
            if item in self.broken:
                raise self.broken[item]
        self.accepted.update(items)


def isolated(tier: Tier, evidence: Evidence | None = None) -> Isolation[int]:
    return Isolation(tier.add, evidence or Evidence("the tier"), int)


@given(count=st.integers(2, 60), data=st.data())
@settings(deadline=None)
async def test_a_few_broken_items_are_found_and_all_others_are_accepted(
    count: int, data: st.DataObject
) -> None:
    """Fewer broken items than are tried alone: one of the others always shows that the tier works."""
    most = min(isolation.SAMPLE, count) - 1
    broken = data.draw(st.sets(st.integers(0, count - 1), max_size=most))
    tier = Tier(dict.fromkeys(broken, InternalError()))
    found = await isolated(tier).run(range(count))
    assert {item for item, _ in found} == broken
    assert tier.accepted == set(range(count)) - broken


@pytest.mark.parametrize("count", [1, 2, 200])
async def test_if_no_item_succeeds_the_tier_is_to_blame_soon(count: int) -> None:
    tier = Tier(dict.fromkeys(range(count), InternalError()))
    with pytest.raises(WaitingError, match="the tier accepts nothing now"):
        await isolated(tier).run(range(count))
    assert tier.calls <= 1 + isolation.SAMPLE


async def test_items_that_all_fail_are_to_blame_if_the_tier_works_for_other_spaces() -> None:
    evidence = Evidence("the tier")
    tier = Tier(dict.fromkeys(range(3), InternalError()))

    async def add(items: Sequence[int]) -> None:
        evidence.note_success()  # of another space, at the same time
        await tier.add(items)

    found = await Isolation(add, evidence, int).run(range(3))
    assert {item for item, _ in found} == {0, 1, 2}


async def test_an_item_that_fails_a_few_times_only_is_accepted() -> None:
    tier = Tier({1: InternalError()})
    left = isolation.ATTEMPTS - 1

    async def add(items: Sequence[int]) -> None:
        nonlocal left
        if list(items) == [1]:
            left -= 1
            if not left:
                tier.broken.clear()
        await tier.add(items)

    assert await Isolation(add, Evidence("the tier"), int).run([0, 1]) == []
    assert tier.accepted == {0, 1}


async def test_an_item_that_the_tier_names_as_wrong_is_refused_at_once() -> None:
    wrong = InvalidFieldError(FieldError("documents[0].title", "is too long"))
    tier = Tier(dict.fromkeys(range(4), wrong))
    found = await isolated(tier).run(range(4))
    assert [(item, error) for item, error in found] == [(item, wrong) for item in range(4)]


async def test_an_unavailable_store_is_raised_as_it_is() -> None:
    with pytest.raises(StoreUnavailableError):
        await isolated(Tier({3: StoreUnavailableError("neo4j")})).run(range(8))


async def rounds_until_given_up(isolation_: Isolation[int], item: int) -> int:
    """Tries an item that is alone in the queue again and again; returns in how many rounds it had to wait before."""
    for waited in range(2 * isolation.FEW_ROUNDS):
        try:
            refused = await isolation_.run([item])
        except WaitingError:
            continue
        assert [one.item for one in refused] == [item]
        return waited
    raise AssertionError("it waits forever")


async def test_an_item_that_stays_alone_is_given_up_after_a_limit_of_attempts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolation, "FEW_SECONDS", 0.0)
    lone = isolated(Tier({1: InternalError()}))
    assert await rounds_until_given_up(lone, 1) == isolation.FEW_ROUNDS - 1
    # Retried by the user, it has all its attempts again.
    assert await rounds_until_given_up(lone, 1) == isolation.FEW_ROUNDS - 1


async def test_no_item_is_given_up_before_the_tier_had_the_time_to_be_repaired() -> None:
    lone = isolated(Tier({1: InternalError()}))
    with pytest.raises(AssertionError, match="it waits forever"):
        await rounds_until_given_up(lone, 1)


MANY = range(isolation.SAMPLE + 1)


async def outcomes(turns: Sequence[Sequence[int]]) -> set[int]:
    """Tries broken items in turn for more rounds than a few items have; returns those that were given up."""
    broken = isolated(Tier(dict.fromkeys(range(20), InternalError())))
    given_up: set[int] = set()
    for _ in range(isolation.FEW_ROUNDS):
        for items in turns:
            with suppress(WaitingError):
                given_up |= {one.item for one in await broken.run(items)}
    return given_up


@pytest.mark.parametrize(
    "turns", [[[1], [2]], [[1], [2, 3]], [[1, 2, 3, 4, 5]]], ids=["alone", "both", "a batch"]
)
async def test_a_few_items_that_are_all_there_is_are_given_up_after_a_limit_of_attempts(
    monkeypatch: pytest.MonkeyPatch, turns: list[list[int]]
) -> None:
    monkeypatch.setattr(isolation, "FEW_SECONDS", 0.0)
    assert await outcomes(turns) == {item for items in turns for item in items}


@pytest.mark.parametrize(
    "turns", [[[item] for item in MANY], [MANY], [[0], MANY[1:]]], ids=["alone", "a batch", "both"]
)
async def test_many_items_that_fail_alike_are_never_given_up(
    monkeypatch: pytest.MonkeyPatch, turns: list[Sequence[int]]
) -> None:
    monkeypatch.setattr(isolation, "FEW_SECONDS", 0.0)
    assert await outcomes(turns) == set()


async def test_failures_of_items_that_are_no_longer_tried_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolation, "FEW_SECONDS", 0.0)
    broken = isolated(Tier(dict.fromkeys(MANY, InternalError())))
    for items, forgotten in ((MANY, 60.0), ([1], -1.0)):
        monkeypatch.setattr(isolation, "_FORGOTTEN_SECONDS", forgotten)
        with pytest.raises(WaitingError):
            await broken.run(items)
    monkeypatch.setattr(isolation, "_FORGOTTEN_SECONDS", 60.0)
    assert await rounds_until_given_up(broken, 1) == isolation.FEW_ROUNDS - 2


async def test_attempts_while_the_store_is_unavailable_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolation, "FEW_SECONDS", 0.0)
    tier = Tier({1: StoreUnavailableError("neo4j")})
    lone = isolated(tier)
    for _ in range(2 * isolation.FEW_ROUNDS):
        with pytest.raises(StoreUnavailableError):
            await lone.run([1])
    tier.broken[1] = InternalError()
    assert await rounds_until_given_up(lone, 1) == isolation.FEW_ROUNDS - 1
