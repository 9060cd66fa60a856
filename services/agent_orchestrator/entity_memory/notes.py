"""Says what a turn will add to the user's memory, before the queue has saved it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from services.agent_orchestrator.entity_memory.names import folded_name
from services.agent_orchestrator.entity_memory.records import (
    Limits,
    NewRelationship,
    Relationship,
)
from services.agent_orchestrator.entity_memory.roles import is_in_place_of
from services.agent_orchestrator.entity_memory.sentences import YOU, I, clause
from services.agent_orchestrator.entity_memory.turns import Extractor
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger
from services.runtime.text_worker import WorkerFailedError

# The reply does not wait longer for the extractor.
_SECONDS: Final = 2.0
NoteTurn = Callable[[Sequence[str]], Awaitable[str | None]]
"""Takes the user's turns, the last one last; see `Notes.of`."""


class CallersMemory(Protocol):
    """What the memory of the calling user has."""

    async def replaced_by(self, new: NewRelationship) -> Sequence[Relationship]:
        """Returns what a relationship is said in place of."""

    async def knows(self, name: str) -> bool:
        """Whether there is an entity with this name."""


class Notes:
    """Reads turns like the queue does, with the local extractor."""

    def __init__(self, extractor: Extractor, memory: CallersMemory, limits: Limits) -> None:
        self._extractor = extractor
        self._memory = memory
        self._threshold = limits.confidence_threshold

    async def of(self, turns: Sequence[str]) -> str | None:
        """Returns in words to the user what the last of the turns adds and takes back; "" for nothing.

        None if that is not known in time: the queue will save it all the same.
        """
        try:
            async with asyncio.timeout(_SECONDS):
                news = await self._extractor.read(turns)
                added = [one for one in news.relationships if one.confidence >= self._threshold]
                before = await self._before(added, news.retracted)
                gone = await self._gone(news.retracted, before)
        except (TimeoutError, WorkerFailedError, BraidError) as error:
            get_logger("entity_memory").warning("turn not read yet", cause=type(error).__name__)
            return None
        parts = []
        if added:
            said = dict.fromkeys(
                clause(one, YOU) + (f" (before: {', '.join(names)})" if names else "")
                for one, names in zip(added, before, strict=True)
            )
            parts.append(f"Noted: {'; '.join(said)}.")
        if gone:
            parts.append(f"No longer noted: {', '.join(gone)}.")
        if added:
            parts.append(f"To undo it, say: “forget that {clause(added[0], I)}”.")
        return " ".join(parts)

    async def _gone(
        self, retracted: Sequence[NewRelationship], before: Sequence[Sequence[str]]
    ) -> list[str]:
        """Returns the known names of what is taken back, every relation to each, without those named as before."""
        names = dict.fromkeys(
            YOU.object if one.target.is_user else one.target.name for one in retracted
        )
        said = {name for names in before for name in names}
        return [
            name
            for name in names
            if name not in said and (name == YOU.object or await self._memory.knows(name))
        ]

    async def _before(
        self, added: Sequence[NewRelationship], retracted: Sequence[NewRelationship]
    ) -> list[list[str]]:
        """Returns for each relationship the names that it takes the place of, said just now or stored."""
        return [
            _other_names(one, [*retracted, *await self._memory.replaced_by(one)])
            if one.exclusive
            else []
            for one in added
        ]


def _other_names(
    new: NewRelationship, replaced: Sequence[NewRelationship | Relationship]
) -> list[str]:
    """Returns the distinct names of what has the role, or the type, of a relationship and is another target."""
    names = (one.target.name for one in replaced if is_in_place_of(new, one))
    own = folded_name(new.target.name)
    return list({folded_name(name): name for name in names if folded_name(name) != own}.values())


async def not_noted(_turns: Sequence[str]) -> str | None:
    """Says nothing, where a language model decides what is saved."""
    return None
