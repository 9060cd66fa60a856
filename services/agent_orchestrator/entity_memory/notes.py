"""Says what a turn will add to the user's memory, before the queue has saved it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from services.agent_orchestrator.entity_memory.records import Limits
from services.agent_orchestrator.entity_memory.sentences import YOU, I, clause
from services.agent_orchestrator.entity_memory.turns import Extractor
from services.runtime.telemetry import get_logger
from services.runtime.text_worker import WorkerFailedError

# The reply does not wait longer for the extractor.
_SECONDS: Final = 2.0
NoteTurn = Callable[[Sequence[str]], Awaitable[str | None]]
"""Takes the user's turns, the last one last; see `Notes.of`."""


class Notes:
    """Reads turns like the queue does, with the local extractor."""

    def __init__(self, extractor: Extractor, limits: Limits) -> None:
        self._extractor = extractor
        self._threshold = limits.confidence_threshold

    async def of(self, turns: Sequence[str]) -> str | None:
        """Returns in words to the user what the last of the turns adds and takes back; "" for nothing.

        None if that is not known in time: the queue will save it all the same.
        """
        try:
            async with asyncio.timeout(_SECONDS):
                news = await self._extractor.read(turns)
        except (TimeoutError, WorkerFailedError) as error:
            get_logger("entity_memory").warning("turn not read yet", cause=type(error).__name__)
            return None
        added = [one for one in news.relationships if one.confidence >= self._threshold]
        parts = []
        if added:
            said = dict.fromkeys(clause(one, YOU) for one in added)
            parts.append(f"Noted: {'; '.join(said)}.")
        if news.retracted:
            # What is taken back is every relation to a name: which of them were noted is not known here.
            names = dict.fromkeys(
                YOU.object if one.target.is_user else one.target.name for one in news.retracted
            )
            parts.append(f"No longer noted: {', '.join(names)}.")
        if added:
            parts.append(f"To undo it, say: “forget that {clause(added[0], I)}”.")
        return " ".join(parts)


async def not_noted(_turns: Sequence[str]) -> str | None:
    """Says nothing, where a language model decides what is saved."""
    return None
