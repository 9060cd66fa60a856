"""Starts, follows and cancels runs. A run is its own task: it outlives the call that started it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import replace
from typing import Final

from braid.common.v1 import legs_pb2
from services.agent_orchestrator.agent.answering import Answer, Answering, Question
from services.agent_orchestrator.agent.conversations.history import StoredMessage, build_history
from services.agent_orchestrator.agent.conversations.store import (
    ConversationStore,
)
from services.agent_orchestrator.agent.conversations.summaries import Summaries
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.planner.tool_choice import VectorOf
from services.agent_orchestrator.agent.runs.ask import Ask, Limits, RunMemory
from services.agent_orchestrator.agent.runs.event_log import Owner, RunLog
from services.agent_orchestrator.agent.runs.events import (
    Done,
    Event,
    Failed,
    Happening,
    LegEnded,
    Noticed,
    Started,
    TextAdded,
)
from services.agent_orchestrator.agent.runs.remote_run import NOTE_SECONDS, LogFollower
from services.agent_orchestrator.agent.runs.run import Run
from services.agent_orchestrator.agent.runs.run_completion import RunFinalizer
from services.agent_orchestrator.agent.runs.store_failures import STORE_FAILURES, warn
from services.agent_orchestrator.agent.tier_reads import TierReads
from services.agent_orchestrator.agent.toolsets import EXPECTED, SAVING
from services.agent_orchestrator.entity_memory.notes import NoteTurn, not_noted
from services.agent_orchestrator.entity_memory.queue import MemoryWrites
from services.agent_orchestrator.search.comprehensive import ComprehensiveSearch
from services.agent_orchestrator.search.expanded_hybrid import ExpandedHybrid
from services.models.reranking.reranker import PairReranker
from services.postgres.pool import Pool
from services.runtime.context import CallContext, call_scope, current_call, remaining
from services.runtime.errors import (
    INTERNAL_MESSAGE,
    BraidError,
    DeadlineError,
    MissingScopeError,
    NotFoundError,
    OverloadedError,
)
from services.runtime.status import reason_name
from services.runtime.telemetry import get_logger
from services.runtime.text_worker import TextWorkers
from services.runtime.tracing import span

CONVERSATIONS: Final = "conversations"
NOT_REMEMBERED = "The conversation cannot be read or stored now: this question was answered alone."
NOT_STORED = "This answer could not be stored in the conversation."
NOT_KEPT = (
    "This credential may only read: the question and its answer are not kept in the conversation."
)
_FLUSH_SECONDS = 0.25
_MAX_HISTORY = 200


class Runs:
    """The runs of this process; runs of other processes are read from the log."""

    def __init__(
        self,
        *,
        answering: Answering,
        pool: Pool,
        log: RunLog,
        conversations: ConversationStore,
        summaries: Summaries,
        search: ComprehensiveSearch,
        hybrid: ExpandedHybrid,
        tiers: TierReads,
        limits: Limits,
        planner: TextWorkers,
        vector_of: VectorOf,
        memory: MemoryWrites | None = None,
        note: NoteTurn = not_noted,
        reader: PairReranker | None = None,
    ) -> None:
        self._answering = answering
        self._log = log
        self._conversations = conversations
        self._summaries = summaries
        self._search = search
        self._hybrid = hybrid
        self._tiers = tiers
        self._reader = reader
        self._note = note
        self._planner = planner
        self._vector_of = vector_of
        self._limits = limits
        self._follower = LogFollower(log)
        self._ends = RunFinalizer(
            pool, log, conversations, memory, store_seconds=limits.store_seconds
        )
        self._runs: dict[str, Run] = {}
        self._background: set[asyncio.Task[None]] = set()

    async def exists(self, owner: Owner, run_id: str) -> bool:
        """Whether the owner has this run, in this process or in the log; none is known while the log is unavailable."""
        if run_id in self._runs:
            return self._runs[run_id].owner == owner
        try:
            async with asyncio.timeout(self._limits.store_seconds):
                await self._log.state(run_id, owner)
        except (NotFoundError, *STORE_FAILURES):
            return False
        return True

    async def start(self, ask: Ask, run_id: str) -> Run:
        """Starts a run with this id.

        Raises OverloadedError, its conversation's NotFoundError or WrongStateError, and StoreUnavailableError where a
        conversation cannot be started.
        """
        if sum(not run.ended for run in self._runs.values()) >= self._limits.max_runs:
            raise OverloadedError(1.0)
        call = current_call()
        owner = Owner(call.space, call.user)
        if ask.starts_conversation:
            conversation = await self._conversations.create(owner, title="")
            ask = replace(ask, conversation_id=conversation.id)
        orphan_seconds = 0.0 if ask.cancel_on_disconnect else self._limits.orphan_seconds
        run = Run(
            run_id,
            owner,
            ask.conversation_id,
            lambda run: self._abandoned(run, orphan_seconds),
            kept=ask.keeps,
        )
        memory = await self._remember(run, ask)
        self._runs[run.id] = run
        deadline = asyncio.get_running_loop().time() + remaining(self._limits.run_seconds)
        # The key identifies the run; what its tools create is not identified by it.
        context = replace(call, deadline=deadline, idempotency_key="")
        run.task = asyncio.create_task(self._work(run, ask, memory, context), name="agent-run")
        return run

    async def follow(self, owner: Owner, run_id: str, after: int) -> AsyncIterator[Event]:
        """Yields events of a run after a number, including future ones. Raises NotFoundError for an unknown run."""
        run = self._runs.get(run_id)
        if run is not None:
            if run.owner != owner:
                raise NotFoundError("run")
            async for event in run.follow(after):
                yield event
            return
        async for event in self._follower.follow(owner, run_id, after):
            yield event

    async def cancel(self, owner: Owner, run_id: str, *, including_kept: bool = True) -> None:
        """Cancels a run, on whichever process it runs.

        Raises NotFoundError for an unknown run, MissingScopeError for a kept one unless `including_kept`.
        """
        run = self._runs.get(run_id)
        if run is None:
            kept = await self._log.is_kept(run_id, owner)
        elif run.owner != owner:
            raise NotFoundError("run")
        else:
            kept = run.kept
        if kept and not including_kept:
            raise MissingScopeError("write")
        if run is None:
            await self._log.request_cancel(run_id, owner)
        else:
            run.cancel()

    async def close(self) -> None:
        """Cancels all runs and waits for their ends."""
        tasks = [run.task for run in self._runs.values() if run.task and not run.task.done()]
        for task in (*tasks, *self._background):
            task.cancel()
        await asyncio.gather(*tasks, *self._background, return_exceptions=True)

    async def _remember(self, run: Run, ask: Ask) -> RunMemory:
        """Acquires the conversation and logs the run, so that readers can resume from its first event."""
        memory = RunMemory()
        try:
            if ask.conversation_id and run.kept:
                await self._conversations.acquire(
                    run.owner,
                    ask.conversation_id,
                    run.id,
                    wait_seconds=self._limits.conversation_wait_seconds,
                    store_seconds=self._limits.store_seconds,
                )
            if ask.conversation_id:
                async with asyncio.timeout(self._limits.store_seconds):
                    memory.conversation = await self._conversations.get(
                        run.owner, ask.conversation_id
                    )
            run.publish(self._started(run, ask))
            async with asyncio.timeout(self._limits.store_seconds):
                await self._log.add_run(run, run.events_after(0))
            if memory.conversation is not None and not run.kept:
                run.publish(Noticed(message=NOT_KEPT))
            memory.logged, memory.written = True, 1
        except STORE_FAILURES as error:
            warn("run not logged", error)
            if not run.events_after(0):
                run.publish(self._started(run, ask))
            if ask.conversation_id and memory.conversation is None:
                memory.notes.append(NOT_REMEMBERED)
                run.publish(Noticed(message=NOT_REMEMBERED, unavailable=CONVERSATIONS))
        return memory

    def _started(self, run: Run, ask: Ask) -> Started:
        return Started(
            run_id=run.id,
            conversation_id=ask.conversation_id,
            model=self._answering.first_model,
            tools=tuple(name for name in EXPECTED[ask.profile] if ask.keeps or name not in SAVING),
        )

    async def _work(self, run: Run, ask: Ask, memory: RunMemory, context: CallContext) -> None:
        with call_scope(context):
            keeping = asyncio.create_task(self._keep_logged(run, memory), name="agent-run-log")
            try:
                with span("agent run"):
                    answer, last = await self._answer(run, ask, memory)
            finally:
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
        with call_scope(replace(context, deadline=None)):
            # A cancellation must not prevent the run from storing how it ended.
            await asyncio.shield(asyncio.create_task(self._end(run, ask, memory, answer, last)))
        if answer is not None and memory.conversation is not None and run.kept:
            self._in_background(self._summaries.update(run.owner, memory.conversation.id))

    async def _answer(
        self, run: Run, ask: Ask, memory: RunMemory
    ) -> tuple[Answer | None, Happening]:
        try:
            async with asyncio.timeout(remaining(self._limits.run_seconds)):
                question = await self._question(run, ask, memory)
                answer = await self._answering.answer(
                    question, self._dependencies(run, ask), run.publish, memory.notes
                )
        except asyncio.CancelledError:
            return self._cancelled(run)
        except TimeoutError:
            return None, _failed(DeadlineError())
        except BraidError as error:
            return None, _failed(error)
        except Exception:  # noqa: BLE001 - the reader gets a generic message; details are logged
            get_logger("agent").exception("defect in a run", run_id=run.id)
            return None, Failed(reason="INTERNAL", message=INTERNAL_MESSAGE)
        done = Done(
            answer=answer.text, end=answer.end, model=answer.model, unavailable=answer.unavailable
        )
        return answer, done

    def _cancelled(self, run: Run) -> tuple[Answer, Done]:
        parts: list[str] = []
        for event in run.events_after(0):
            if isinstance(event.what, TextAdded):
                parts = [event.what.text] if event.what.restart else [*parts, event.what.text]
        text, model = "".join(parts), self._answering.first_model
        answer = Answer(text=text, citations=(), model=model, end="cancelled", unavailable=())
        return answer, Done(answer=text, end="cancelled", model=model)

    async def _question(self, run: Run, ask: Ask, memory: RunMemory) -> Question:
        conversation = memory.conversation
        said: Sequence[StoredMessage] = list(reversed(ask.prior))
        summary = ""
        if conversation is not None:
            messages = await self._conversations.messages(
                run.owner, conversation.id, limit=_MAX_HISTORY
            )
            summary = conversation.summary
            said = [
                StoredMessage(message.role, message.text)
                for message in messages
                if message.number > conversation.summarized_through
            ]
        history = build_history(said, self._limits.history_tokens, summary)
        if history.left_out:
            note = f"The oldest {history.left_out} messages of this conversation were left out."
            memory.notes.append(note)
            run.publish(Noticed(message=note))
        return Question(ask.question, history.messages, ask.profile)

    def _dependencies(self, run: Run, ask: Ask) -> AgentDependencies:
        def leg_ended(call_id: str, report: legs_pb2.LegReport) -> None:
            run.publish(_leg_ended(call_id, report))

        return AgentDependencies(
            session_id=ask.session_id or ask.conversation_id or run.id,
            user_id=run.owner.user or None,
            space=run.owner.space,
            question=ask.question,
            now=ask.now,
            zone=ask.zone,
            search=self._search,
            hybrid=self._hybrid,
            tiers=self._tiers,
            reader=self._reader,
            planner=self._planner,
            vector_of=self._vector_of,
            search_preferences=ask.preferences,
            run_id=run.id,
            conversation_id=ask.conversation_id,
            leg_ended=leg_ended,
            may_save=ask.keeps,
            is_remembered=self._ends.is_remembered(run, ask),
            note=self._note,
        )

    async def _keep_logged(self, run: Run, memory: RunMemory) -> None:
        """Writes events to the log during the run, renews its lease and checks for its cancellation."""
        loop = asyncio.get_running_loop()
        renewed = loop.time()
        while memory.logged:
            await asyncio.sleep(_FLUSH_SECONDS)
            try:
                events = run.events_after(memory.written)
                if events:
                    await self._log.append(run.id, events)
                    memory.written = events[-1].number
                if loop.time() - renewed > min(1.0, self._limits.lease_seconds / 3):
                    renewed = loop.time()
                    if await self._log.renew(run.id):
                        run.cancel()
            except STORE_FAILURES as error:
                warn("events not logged", error)

    async def _end(
        self, run: Run, ask: Ask, memory: RunMemory, answer: Answer | None, last: Happening
    ) -> None:
        """Stores the turn and the last events in one transaction, then publishes the end."""
        event = run.next_event(last)
        is_kept = run.kept and memory.conversation is not None
        stored = not (memory.logged or is_kept) or await self._ends.store(
            run, ask, memory, answer, event
        )
        if is_kept and not stored:
            run.publish(Noticed(message=NOT_STORED, unavailable=CONVERSATIONS))
            event = run.next_event(last)
        run.publish(event)
        asyncio.get_running_loop().call_later(self._limits.keep_seconds, self._forget, run)

    def _forget(self, run: Run) -> None:
        """Forgets an ended run; the log keeps it only if the run is kept."""
        self._runs.pop(run.id, None)
        if not run.kept:
            self._in_background(self._delete(run))

    async def _delete(self, run: Run) -> None:
        try:
            await self._log.delete(run.id)
        except STORE_FAILURES as error:
            warn("run not deleted yet", error)

    def _abandoned(self, run: Run, seconds: float) -> None:
        self._in_background(self._stop_unless_followed(run, seconds))

    async def _stop_unless_followed(self, run: Run, seconds: float) -> None:
        """Cancels a run without followers, unless a reader returns in time, to any replica."""
        while True:
            await asyncio.sleep(seconds)
            if run.followers or run.ended:
                return
            if not seconds or not await self._followed_elsewhere(run, seconds):
                run.cancel()
                return

    async def _followed_elsewhere(self, run: Run, seconds: float) -> bool:
        try:
            return await self._log.has_follower(run.id, max(seconds, 2 * NOTE_SECONDS))
        except STORE_FAILURES as error:
            warn("followers not known", error)
            return False

    def _in_background(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _leg_ended(call_id: str, report: legs_pb2.LegReport) -> LegEnded:
    return LegEnded(
        call_id=call_id,
        leg=legs_pb2.Leg.Name(report.leg).removeprefix("LEG_").lower(),
        status=legs_pb2.LegStatus.Name(report.status).removeprefix("LEG_STATUS_"),
        reason=legs_pb2.LegReason.Name(report.reason).removeprefix("LEG_REASON_"),
        seconds=report.elapsed.seconds + report.elapsed.nanos / 1e9,
        hit_count=report.hit_count,
        cached=report.cached,
    )


def _failed(error: BraidError) -> Failed:
    return Failed(reason=reason_name(error), message=error.message, retry_after=error.retry_after)
