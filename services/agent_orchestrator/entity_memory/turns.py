"""From a user's turn to what is saved of it: what it adds to the turns before it, and what it takes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from services.agent_orchestrator.entity_memory.domain import (
    SELF,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
)
from services.agent_orchestrator.entity_memory.records import NamedEnd, NewRelationship

MAX_EARLIER_TURNS: Final = 10
# What one turn may bring to the extractor; a pasted document is longer, and not about the user.
MAX_CHARACTERS: Final = 20_000
MAX_CONTEXT: Final = 2_000
EXTRACT_SECONDS: Final = 20.0


class TurnNews(NamedTuple):
    """What the last of some turns says that was not known from those before, and what it takes back."""

    relationships: tuple[NewRelationship, ...]
    retracted: tuple[NewRelationship, ...]


class Extractor(Protocol):
    """Reads the last of some turns."""

    async def read(self, turns: Sequence[str]) -> TurnNews:
        """What it adds. BraidError when it cannot be read now."""
        ...


class LocalExtractor:
    """Implements `Extractor` with a pure function that reads turns as a whole."""

    def __init__(self, extract: Callable[[Sequence[str]], Extraction]) -> None:
        self._extract = extract

    async def read(self, turns: Sequence[str]) -> TurnNews:
        """See `Extractor`."""
        async with asyncio.timeout(EXTRACT_SECONDS):
            return await asyncio.to_thread(self._read, list(turns))

    def _read(self, turns: Sequence[str]) -> TurnNews:
        kept = [turn[:MAX_CHARACTERS] for turn in turns[-MAX_EARLIER_TURNS - 1 :]]
        after = self._extract(kept)
        before = self._extract(kept[:-1]) if len(kept) > 1 else Extraction()
        alone = self._extract(kept[-1:]) if len(kept) > 1 else after
        known = {key_of(one) for one in before.relationships}
        repeated = {key_of(one) for one in alone.relationships}
        now = {key_of(one) for one in after.relationships}
        entities = {one.name.casefold(): one for one in after.entities}
        added = [
            one
            for one in after.relationships
            if key_of(one) not in known or key_of(one) in repeated
        ]
        gone = [one for one in before.relationships if key_of(one) not in now]
        taken_back = {key_of(one): one for one in (*after.retracted, *gone)}

        def new(one: ExtractedRelationship) -> NewRelationship:
            return NewRelationship(
                _end(one.source, entities),
                one.type,
                _end(one.target, entities),
                one.context[:MAX_CONTEXT],
                one.confidence,
            )

        return TurnNews(
            tuple(new(one) for one in added),
            tuple(new(one) for key, one in taken_back.items() if key not in now),
        )


def key_of(one: ExtractedRelationship) -> tuple[str, str, str]:
    """The identity of an extracted relationship."""
    return (one.source.casefold(), one.type, one.target.casefold())


def _end(name: str, entities: Mapping[str, ExtractedEntity]) -> NamedEnd:
    if name == SELF:
        return NamedEnd()
    known = entities.get(name.casefold())
    return NamedEnd(name=name, type=known.type if known else None)
