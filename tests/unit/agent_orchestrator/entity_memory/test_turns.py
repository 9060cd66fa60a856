"""Turns are read in a process that can be stopped, with the same result as by the extractor itself."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.agent_orchestrator.entity_memory.extraction import KnownNames, read_turns
from services.agent_orchestrator.entity_memory.turns import (
    MAX_CHARACTERS,
    MAX_EARLIER_TURNS,
    LocalExtractor,
    news_of,
)


@pytest.fixture
async def extractor() -> AsyncIterator[LocalExtractor]:
    local = LocalExtractor()
    yield local
    await local.close()


@pytest.mark.parametrize(
    "turn", ["I use Docker and my manager is Helen Brandt.", "Ravi works at Infosys.", "", "héllo"]
)
async def test_a_turn_is_read_as_by_the_extractor_itself(
    extractor: LocalExtractor, turn: str
) -> None:
    assert await extractor.read([turn]) == news_of(read_turns([turn], KnownNames.load()))


async def test_what_earlier_turns_say_is_withdrawn(extractor: LocalExtractor) -> None:
    news = await extractor.read(["I use Vim.", "I no longer use Vim."])
    assert {one.target.name for one in news.retracted} == {"Vim"}


async def test_the_longest_conversation_of_repeated_marks_is_read(
    extractor: LocalExtractor,
) -> None:
    turns = ["I use " + "@" * MAX_CHARACTERS] * (MAX_EARLIER_TURNS + 1)
    assert await extractor.read(turns) == ((), ())
