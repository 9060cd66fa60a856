"""Stores the end of a run in one transaction: the turn, the memory write and the last events."""

from __future__ import annotations

import asyncio

from services.agent_orchestrator.agent.answering import Answer
from services.agent_orchestrator.agent.chat_tasks import read_chat_task
from services.agent_orchestrator.agent.conversations.store import ConversationStore, Turn
from services.agent_orchestrator.agent.runs.ask import Ask, RunMemory
from services.agent_orchestrator.agent.runs.event_log import RunLog
from services.agent_orchestrator.agent.runs.events import Event
from services.agent_orchestrator.agent.runs.run import Run
from services.agent_orchestrator.agent.runs.store_failures import STORE_FAILURES, warn
from services.agent_orchestrator.entity_memory.forgetting import asks_to_forget
from services.agent_orchestrator.entity_memory.queue import MemoryWrites
from services.agent_orchestrator.entity_memory.records import Owner as MemoryOwner
from services.agent_orchestrator.entity_memory.records import Provenance
from services.postgres.pool import Pool
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

# Waits between attempts to store a run's end.
_STORE_AGAIN_SECONDS = (0.2, 0.5, 1.0)


class RunFinalizer:
    """Stores the ends of runs."""

    def __init__(
        self,
        pool: Pool,
        log: RunLog,
        conversations: ConversationStore,
        memory: MemoryWrites | None,
        *,
        store_seconds: float,
    ) -> None:
        self._pool = pool
        self._log = log
        self._conversations = conversations
        self._memory = memory
        self._store_seconds = store_seconds

    def is_remembered(self, run: Run, ask: Ask) -> bool:
        """Whether the user's words are queued for the memory once the run has an answer.

        They are not if the caller excludes them, a chat front end wrote the prompt, or they ask to forget something.
        """
        is_said = not ask.skip_memory and read_chat_task(ask.question) is None
        is_kept = run.kept and not asks_to_forget(ask.question)
        return self._memory is not None and is_kept and is_said

    async def store(
        self, run: Run, ask: Ask, memory: RunMemory, answer: Answer | None, last: Event
    ) -> bool:
        """Returns whether the end was stored. Retries store failures, because the answer would be lost otherwise."""
        tried = False
        for wait in (*_STORE_AGAIN_SECONDS, None):
            try:
                async with asyncio.timeout(self._store_seconds):
                    await self._store_end(run, ask, memory, answer, last)
            except STORE_FAILURES as error:
                warn("end of a run not stored yet", error)
                if wait is None:
                    return False
                tried = True
                await asyncio.sleep(wait)
            except BraidError as error:
                warn("end of a run not stored", error)
                # If an attempt with an unknown outcome came first, a missing lease means that it succeeded.
                return tried
            except Exception:  # noqa: BLE001 - the reader must get the end even if the log fails
                get_logger("agent").exception("defect in storing a run's end", run_id=run.id)
                return False
            else:
                return True
        return False

    async def _store_end(
        self, run: Run, ask: Ask, memory: RunMemory, answer: Answer | None, last: Event
    ) -> None:
        events = [*run.events_after(memory.written), last]
        async with self._pool.transaction() as session:
            keeps = answer is not None and run.kept
            if answer is not None and keeps and memory.conversation is not None:
                turn = Turn(ask.question, answer.text, answer.citations, answer.model, answer.end)
                await self._conversations.add_turn(session, memory.conversation.id, run.id, turn)
            if answer is not None and self._memory is not None and self.is_remembered(run, ask):
                await self._memory.queue_turn(
                    session,
                    MemoryOwner(run.owner.space, run.owner.user),
                    Provenance(ask.conversation_id or run.id, run.id),
                    ask.question,
                    [said.text for said in ask.prior if said.role == "user"],
                )
            if memory.logged:
                await self._log.end_within(session, run.id, events)
        if self._memory is not None:
            self._memory.wake()
        if answer is None and run.kept and memory.conversation is not None:
            await self._conversations.release(memory.conversation.id, run.id)
