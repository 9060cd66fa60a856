"""Extracts from a user's turn what to save: statements that the earlier turns lack, and withdrawals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from services.agent_orchestrator.entity_memory.domain import (
    SELF,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
)
from services.agent_orchestrator.entity_memory.names import (
    MAX_NAME_LENGTH,
    canonical_name,
    has_control_characters,
)
from services.agent_orchestrator.entity_memory.payloads import relationship_of
from services.agent_orchestrator.entity_memory.records import NamedEnd, NewRelationship
from services.agent_orchestrator.entity_memory.roles import spelled_role
from services.runtime.text_worker import TextWorker

MAX_EARLIER_TURNS: Final = 10
# Maximum characters of a turn for the extractor; longer ones are pasted documents, not statements about the user.
MAX_CHARACTERS: Final = 20_000
MAX_CONTEXT: Final = 2_000
MAX_ROLE: Final = 100
EXTRACT_SECONDS: Final = 30.0
_PROCESS: Final = "services.agent_orchestrator.entity_memory.extraction_process"


class TurnNews(NamedTuple):
    """The statements of the last of several turns, and the statements that it withdraws."""

    relationships: tuple[NewRelationship, ...]
    retracted: tuple[NewRelationship, ...]


class Extractor(Protocol):
    """Reads the last of several turns."""

    async def read(self, turns: Sequence[str]) -> TurnNews:
        """Returns what it adds to the earlier ones. Raises BraidError if it cannot be read now."""
        ...


class LocalExtractor:
    """Implements `Extractor` with the clause grammar, in a process of its own that can be stopped. English only."""

    def __init__(self) -> None:
        self._worker = TextWorker(_PROCESS, seconds=EXTRACT_SECONDS)

    async def read(self, turns: Sequence[str]) -> TurnNews:
        """See `Extractor`. Raises TimeoutError for turns that take too long."""
        found, retracted = await self._worker.ask({"turns": shortened(turns)})
        return TurnNews(
            tuple(relationship_of(one) for one in found),
            tuple(relationship_of(one) for one in retracted),
        )

    async def close(self) -> None:
        """Ends the process that reads."""
        await self._worker.close()


def shortened(turns: Sequence[str]) -> list[str]:
    """Returns the latest turns, each shortened to its limit."""
    return [turn[:MAX_CHARACTERS] for turn in turns[-MAX_EARLIER_TURNS - 1 :]]


def news_of(found: Extraction) -> TurnNews:
    """Returns what can be saved of an extraction: without unusable names and relationships of a name to itself."""
    entities = {canonical_name(one.name): one for one in found.entities}
    return TurnNews(
        tuple(_new(one, entities) for one in found.relationships if _is_storable(one)),
        tuple(_new(one, entities) for one in found.retracted if _is_storable(one)),
    )


def _is_storable(one: ExtractedRelationship) -> bool:
    names = (one.source, one.target)
    return canonical_name(one.source) != canonical_name(one.target) and all(
        name.strip() and len(name) <= MAX_NAME_LENGTH and not has_control_characters(name)
        for name in names
    )


def _new(one: ExtractedRelationship, entities: Mapping[str, ExtractedEntity]) -> NewRelationship:
    return NewRelationship(
        _end(one.source, entities),
        one.type,
        _end(one.target, entities),
        one.context[:MAX_CONTEXT],
        one.confidence,
        spelled_role(one.role)[:MAX_ROLE],
        one.exclusive,
        one.mistaken,
    )


def _end(name: str, entities: Mapping[str, ExtractedEntity]) -> NamedEnd:
    if name == SELF:
        return NamedEnd()
    known = entities.get(canonical_name(name))
    return NamedEnd(name=name, type=known.type if known else None)
