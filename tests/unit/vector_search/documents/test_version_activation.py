"""Versions that time alone brings into force are seen to, whatever a space's own trouble."""

from __future__ import annotations

import asyncio

import pytest

from services.runtime.errors import OverloadedError, StoreUnavailableError
from services.vector_search.documents.version_activation import VersionActivation


class Due:
    """Spaces that are due until they are activated; some raise instead."""

    def __init__(self, *spaces: str, trouble: dict[str, Exception] | None = None) -> None:
        self.spaces = list(spaces)
        self.trouble = trouble or {}
        self.over = asyncio.Event()

    async def due_spaces(self) -> list[str]:
        """Those that are left."""
        return list(self.spaces)

    async def activate_versions(self, space: str) -> None:
        """Takes it off."""
        if space in self.trouble:
            raise self.trouble.pop(space)
        self.spaces.remove(space)
        if not self.spaces:
            self.over.set()


@pytest.mark.parametrize("error", [OverloadedError(1.0), RuntimeError("could not read block 7")])
async def test_a_space_that_fails_is_left_until_the_next_round(error: Exception) -> None:
    store = Due("a", "b", "c", trouble={"b": error})
    settling = VersionActivation(store)
    await settling.round()
    assert store.spaces == ["b"]
    await settling.round()
    assert store.spaces == []


async def test_a_store_that_is_away_ends_the_round() -> None:
    store = Due("a", "b", trouble={"a": StoreUnavailableError("postgresql")})
    with pytest.raises(StoreUnavailableError):
        await VersionActivation(store).round()
    assert store.spaces == ["a", "b"]


async def test_it_goes_on_for_as_long_as_the_block_runs() -> None:
    store = Due("a", "b", trouble={"a": StoreUnavailableError("postgresql")})
    async with VersionActivation(store, seconds=0).running():
        await asyncio.wait_for(store.over.wait(), 5)
