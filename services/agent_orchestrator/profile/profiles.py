"""Reads what is known about a user from both memories."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from braid.agent.v1 import memories_pb2
from braid.common.v1 import expansion_pb2, legs_pb2, reranking_pb2
from services.agent_orchestrator.clients.failures import reason_of
from services.agent_orchestrator.entity_memory.domain import EntityType
from services.agent_orchestrator.entity_memory.memory import EntityMemory
from services.agent_orchestrator.entity_memory.records import Entity, Owner, Relationship
from services.agent_orchestrator.entity_memory.sentences import THE_USER, sentence
from services.agent_orchestrator.profile.context import Candidate, compose
from services.agent_orchestrator.profile.items import of_memory_message, of_relationship
from services.agent_orchestrator.typed_memory.domain import SESSION_SUMMARY, Memory
from services.agent_orchestrator.typed_memory.domain import Owner as MemoryOwner
from services.agent_orchestrator.typed_memory.store import MemoryStore, Position
from services.runtime.context import remaining
from services.runtime.errors import BraidError, WrongStateError
from services.runtime.leg_reports import leg_report
from services.runtime.telemetry import get_logger

PREFERENCE: Final = "PREFERENCE"
# Items of each kind that a context may consist of.
_RELEVANT: Final = 30
_LATEST: Final = 30
# Of the prompt with which the agent answers.
_PROMPT_TOKENS: Final = 600
# A prompt does not wait longer for typed memories.
_SEARCH_SECONDS: Final = 5.0

SearchMemories = Callable[
    [memories_pb2.SearchMemoriesRequest], Awaitable[memories_pb2.SearchMemoriesResponse]
]


class Profile(NamedTuple):
    """What is known about a user, in each part last mentioned or stored first; preferences before other memories."""

    statements: Sequence[Relationship]
    memories: Sequence[Memory]
    people: Sequence[Entity]
    projects: Sequence[Entity]


class Known(NamedTuple):
    """What may stand in a context, best first, and how the search of typed memories ended."""

    candidates: Sequence[Candidate]
    memory_leg: legs_pb2.LegReport


class Profiles:
    """The profiles of every user."""

    def __init__(
        self, entity_memory: EntityMemory, memories: MemoryStore, search: SearchMemories
    ) -> None:
        self._entity_memory = entity_memory
        self._memories = memories
        self._search = search

    async def get(self, owner: Owner, limit: int) -> Profile:
        """Returns the user's profile, with at most `limit` items in each part."""
        memory, mine = self._entity_memory, MemoryOwner(owner.space, owner.user)
        types = await self._memories.types_of(mine)
        others = sorted(types - {PREFERENCE, SESSION_SUMMARY})
        statements, people, projects, preferences, rest = await asyncio.gather(
            memory.relationships(owner, (), "", None, limit),
            memory.entities(owner, (EntityType.PERSON,), None, limit),
            memory.entities(owner, (EntityType.PROJECT,), None, limit),
            self._memories.page(mine, [PREFERENCE], "", Position(), limit),
            self._memories.page(mine, others, "", Position(), limit) if others else _none(),
        )
        return Profile(statements, [*preferences, *rest][:limit], people, projects)

    async def prompt(self, space: str, user: str, question: str) -> str:
        """Returns what is relevant to a question, as a text for a language model's prompt; "" if nothing is known."""
        known = await self.known(Owner(space, user), question)
        return compose(known.candidates, _PROMPT_TOKENS).text

    async def known(self, owner: Owner, query: str) -> Known:
        """Returns what is known: what is relevant to the question by relevance, then what was said last."""
        (hits, leg), answers, latest = await asyncio.gather(
            self._found(query),
            self._entity_memory.answer(owner, query, None, None),
            self._entity_memory.relationships(owner, (), "", None, _LATEST),
        )
        relevant = [
            *(
                Candidate(of_memory_message(one.memory), _line(one.memory), one.score)
                for one in hits
            ),
            *(_stated(one.relationship, one.score) for one in answers.answers[:_RELEVANT]),
        ]
        relevant.sort(key=lambda one: -one.score)
        return Known([*relevant, *(_stated(one, 0.0) for one in latest)], leg)

    async def _found(
        self, query: str
    ) -> tuple[Sequence[memories_pb2.MemoryHit], legs_pb2.LegReport]:
        started = time.perf_counter_ns()
        asked = memories_pb2.SearchMemoriesRequest(
            query=query,
            limit=_RELEVANT,
            rerank=reranking_pb2.RERANK_MODE_NONE,
            expansion=expansion_pb2.ExpansionOptions(mode=expansion_pb2.EXPANSION_MODE_NONE),
        )
        try:
            async with asyncio.timeout(remaining(_SEARCH_SECONDS)):
                answer = await self._search(asked)
        except WrongStateError:  # typed memories are not set up
            end = (legs_pb2.LEG_STATUS_DISABLED, legs_pb2.LEG_REASON_UNSPECIFIED)
            return [], leg_report(legs_pb2.LEG_MEMORY, end, started)
        except (BraidError, TimeoutError) as error:
            get_logger("profile").warning("memories not searched", cause=type(error).__name__)
            failed = (legs_pb2.LEG_STATUS_UNAVAILABLE, reason_of(error))
            return [], leg_report(legs_pb2.LEG_MEMORY, failed, started)
        end = (answer.status, answer.reason)
        return answer.hits, leg_report(legs_pb2.LEG_MEMORY, end, started, len(answer.hits))


async def _none() -> list[Memory]:
    return []


def _stated(one: Relationship, score: float) -> Candidate:
    day = one.last_mention_time.date().isoformat()
    said = f" (said on {day}: “{one.context}”)" if one.context else f" (said on {day})"
    return Candidate(of_relationship(one), sentence(one, THE_USER) + said, score)


def _line(memory: memories_pb2.Memory) -> str:
    day = memory.create_time.ToDatetime().date().isoformat()
    title = f"{memory.title}: " if memory.title else ""
    return f"{memory.type} of {day}: {title}{memory.content}"
