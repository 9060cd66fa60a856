"""Versions are activated when they become valid, even if single spaces fail."""

from __future__ import annotations

import asyncio

import pytest

from services.runtime.errors import OverloadedError, StoreUnavailableError
from services.vector_search.documents.version_activation import VersionActivation


class DueSpaces:
    """A store of spaces that are due until they are activated; those in `errors` raise once instead."""

    def __init__(self, *spaces: str, errors: dict[str, Exception] | None = None) -> None:
        self.spaces = list(spaces)
        self.errors = errors or {}
        self.done = asyncio.Event()

    async def due_spaces(self) -> list[str]:
        """Returns the spaces that are still due."""
        return list(self.spaces)

    async def activate_versions(self, space: str) -> None:
        """Removes the space, or raises its error."""
        if space in self.errors:
            raise self.errors.pop(space)
        self.spaces.remove(space)
        if not self.spaces:
            self.done.set()


@pytest.mark.parametrize("error", [OverloadedError(1.0), RuntimeError("could not read block 7")])
async def test_a_space_that_fails_is_retried_in_the_next_round(error: Exception) -> None:
    store = DueSpaces("a", "b", "c", errors={"b": error})
    activation = VersionActivation(store)
    await activation.round()
    assert store.spaces == ["b"]
    await activation.round()
    assert store.spaces == []


async def test_an_unavailable_store_ends_the_round() -> None:
    store = DueSpaces("a", "b", errors={"a": StoreUnavailableError("postgresql")})
    with pytest.raises(StoreUnavailableError):
        await VersionActivation(store).round()
    assert store.spaces == ["a", "b"]


async def test_activation_continues_after_an_outage_while_the_block_runs() -> None:
    store = DueSpaces("a", "b", errors={"a": StoreUnavailableError("postgresql")})
    async with VersionActivation(store, seconds=0).running():
        await asyncio.wait_for(store.done.wait(), 5)
