"""A durable queue of writes to memory, processed in order for each user.

A write is queued in the transaction of its cause, and ends in the transaction that saves it: it is never lost and never
saved twice, regardless of when a process ends.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from services.agent_orchestrator.entity_memory.memory import EntityMemory
from services.agent_orchestrator.entity_memory.payloads import (
    entity_of,
    relationship_of,
    relationship_payload,
)
from services.agent_orchestrator.entity_memory.records import (
    NewEntity,
    NewRelationship,
    Outcome,
    Owner,
    Provenance,
    Relationship,
)
from services.agent_orchestrator.entity_memory.saving import Saving
from services.agent_orchestrator.entity_memory.store import ROOM
from services.agent_orchestrator.entity_memory.turns import (
    MAX_CHARACTERS,
    MAX_EARLIER_TURNS,
    Extractor,
    TurnNews,
)
from services.agent_orchestrator.entity_memory.writes import DeadWrite
from services.postgres.pool import Pool, Row, Session
from services.runtime.context import CallContext, call_scope, current_call_or_none, remaining
from services.runtime.errors import BraidError, InvalidFieldError, NotFoundError
from services.runtime.queries import Queries
from services.runtime.telemetry import get_logger

# Seconds after which another process takes over the writes of a process that has died.
LEASE_SECONDS: Final = 10.0
_RENEWALS_PER_LEASE: Final = 3
# Maximum seconds for which a caller's writes are processed after the caller stopped waiting.
_WORK_OFF_SECONDS: Final = 60.0
MAX_ATTEMPTS: Final = 8
# Several hours: what reads a turn may be unavailable for long, which is not the fault of the turn.
MAX_ATTEMPTS_UNAVAILABLE: Final = 50
# Why a write failed, for its user.
TOO_SLOW: Final = "takes too long to be read"
DEFECT: Final = "failed because of a defect, which is logged"
UNAVAILABLE: Final = "what reads it is unavailable"
INVALID: Final = "refers to something that does not exist, or is not valid"
UNENDED: Final = "its processing never ended"
KEEP_DAYS: Final = 30
_IDLE_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.02
_MAX_POLL_SECONDS: Final = 0.5
_PURGE_SECONDS: Final = 3600.0
_MAX_BACKOFF: Final = 300.0
_MAX_EXPONENT: Final = 9
_SCOPES = frozenset({"read", "write"})


@dataclass(frozen=True, slots=True)
class Write:
    """A claimed write."""

    number: int
    owner: Owner
    kind: str
    seen: Provenance
    payload: Mapping[str, Any]
    attempts: int
    failure: str
    """Why the last attempt failed; empty if it was interrupted, or is the first."""


@dataclass(slots=True)
class TurnSaved:
    """The results of saving a turn."""

    relationships: list[Relationship]
    retracted: int = 0
    over_limit: int = 0
    already_saved: bool = False


class MemoryWrites:
    """Queues and processes writes."""

    def __init__(
        self,
        pool: Pool,
        memory: EntityMemory,
        extractor: Extractor,
        *,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._lease_seconds = lease_seconds
        self._pool = pool
        self._memory = memory
        self._extractor = extractor
        self._queries = Queries.load("sql", ROOM)
        self._wake = asyncio.Event()
        self._tasks: dict[Owner, asyncio.Task[None]] = {}

    async def queue_turn(
        self,
        session: Session,
        owner: Owner,
        seen: Provenance,
        text: str,
        earlier: Sequence[str] = (),
    ) -> None:
        """Queues a turn within the caller's transaction. `earlier` turns are those of an unstored conversation."""
        kept = [one[:MAX_CHARACTERS] for one in earlier[-MAX_EARLIER_TURNS:]]
        payload = {"text": text[:MAX_CHARACTERS], "earlier": kept}
        await self._queue(session, owner, f"turn {seen.message_id}", "turn", seen, payload)

    def wake(self) -> None:
        """Signals that a queued write was committed."""
        self._wake.set()

    async def queue_entity(self, owner: Owner, key: str, seen: Provenance, new: NewEntity) -> None:
        """Queues an entity; durable when this returns."""
        payload = new._asdict()
        async with self._pool.transaction() as session:
            await self._queue(session, owner, key, "entity", seen, payload)
        self._wake.set()

    async def queue_relationship(
        self, owner: Owner, key: str, seen: Provenance, new: NewRelationship
    ) -> None:
        """Queues a relationship; durable when this returns."""
        payload = relationship_payload(new)
        async with self._pool.transaction() as session:
            await self._queue(session, owner, key, "relationship", seen, payload)
        self._wake.set()

    async def save_turn(self, owner: Owner, seen: Provenance, turns: Sequence[str]) -> TurnSaved:
        """Saves the last of several turns now, once for each message."""
        news = await self._extractor.read(turns)
        key = f"turn {seen.message_id}" if seen.message_id else f"turn {uuid.uuid4()}"
        saved = TurnSaved([])
        async with self._memory.store.writing(owner) as rows:
            number = await self._add(rows.session, owner, key, "turn", seen, {})
            if number is None:
                saved.already_saved = True
                return saved
            await self._end(rows.session, owner, number)
            await _save_news(Saving(rows, seen, self._memory.limits), news, saved)
        await self._memory.embed_missing(owner)
        return saved

    async def dead(self, owner: Owner, before: int | None, limit: int) -> list[DeadWrite]:
        """Lists an owner's writes that failed for good, latest first, from the one before a number."""
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], *owner, "")
            rows = await session.fetch(self._queries["dead_writes"], *owner, before, limit)
        return [_dead_write(row) for row in rows]

    async def retry_dead(self, owner: Owner) -> int:
        """Queues an owner's writes that failed for good again; returns their number."""
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], *owner, "")
            rows = await session.fetch(self._queries["retry_dead_writes"], *owner)
        self._wake.set()
        return len(rows)

    async def work_off(self, owner: Owner, seconds: float) -> bool:
        """Processes an owner's waiting writes for at most `seconds`; returns whether none are left."""
        loop = asyncio.get_running_loop()
        until = loop.time() + remaining(seconds)
        while await self._waiting(owner):
            task = self._task_of(owner)
            await asyncio.wait({task}, timeout=max(0.0, until - loop.time()))
            if not task.done() or task.cancelled() or task.exception() is not None:
                return False
        return True

    def _task_of(self, owner: Owner) -> asyncio.Task[None]:
        """Returns the task that processes an owner's writes, one for all callers. It may outlive their waiting."""
        task = self._tasks.get(owner)
        if task is None or task.done():
            task = asyncio.create_task(self._work_off(owner), name="memory-writes-of-owner")
            self._tasks[owner] = task
            task.add_done_callback(partial(self._forget, owner))
        return task

    def _forget(self, owner: Owner, task: asyncio.Task[None]) -> None:
        if self._tasks.get(owner) is task:
            del self._tasks[owner]
        if not task.cancelled():
            task.exception()  # retrieves the exception: no caller may be waiting any more

    async def _work_off(self, owner: Owner) -> None:
        until = asyncio.get_running_loop().time() + _WORK_OFF_SECONDS
        pause = _POLL_SECONDS
        while asyncio.get_running_loop().time() < until:
            if (row := await self._claim_of(owner)) is not None:
                if not await self._work(_write(row)):
                    break  # retried when it is due, not whenever a caller waits
                pause = _POLL_SECONDS
            elif await self._waiting(owner):
                await asyncio.sleep(pause)  # another process is working on it
                pause = min(2 * pause, _MAX_POLL_SECONDS)
            else:
                return
        raise TimeoutError

    async def close(self) -> None:
        """Cancels the writes in progress; they are claimed again when their leases expire."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def run(self) -> None:
        """Processes due writes until cancelled."""
        loop = asyncio.get_running_loop()
        purged = loop.time()
        while True:
            try:
                self._wake.clear()
                while (row := await self._claim()) is not None:
                    await self._work(_write(row))
                if loop.time() - purged > _PURGE_SECONDS:
                    purged = loop.time()
                    await self._purge()
            except (BraidError, TimeoutError) as error:
                get_logger("entity_memory").warning("queue put off", cause=type(error).__name__)
                await asyncio.sleep(_IDLE_SECONDS)
                continue
            except Exception:  # noqa: BLE001 - a defect must not end the worker
                get_logger("entity_memory").exception("defect in the queue")
                await asyncio.sleep(_IDLE_SECONDS)
                continue
            await _wait(self._wake, _IDLE_SECONDS)

    async def _work(self, write: Write) -> bool:
        """Processes a claimed write; returns False if it was postponed."""
        if write.attempts > _max_attempts(write.failure):
            await self._give_up(write, write.failure or UNENDED)
            return True
        renewing = asyncio.create_task(self._renew(write), name="memory-write-lease")
        try:
            with call_scope(_call_of(write.owner)):
                await self._save(write)
        except (InvalidFieldError, NotFoundError) as error:
            get_logger("entity_memory").warning("write refused", cause=type(error).__name__)
            await self._give_up(write, INVALID)
            return True
        except TimeoutError:
            return await self._postpone(write, TOO_SLOW)
        except BraidError:
            return await self._postpone(write, UNAVAILABLE)
        except Exception:  # noqa: BLE001 - one faulty write must not block others
            get_logger("entity_memory").exception("defect in a write", number=write.number)
            return await self._postpone(write, DEFECT)
        else:
            return True
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _renew(self, write: Write) -> None:
        """Renews the lease while a write is in progress: a language model may need long to read a turn."""
        while True:
            await asyncio.sleep(self._lease_seconds / _RENEWALS_PER_LEASE)
            try:
                async with self._pool.transaction() as session:
                    await session.execute(self._queries["set_owner"], *write.owner, "")
                    await session.execute(
                        self._queries["renew_write"],
                        *write.owner,
                        write.number,
                        self._lease_seconds,
                    )
            except (BraidError, TimeoutError) as error:
                get_logger("entity_memory").warning("lease not renewed", cause=type(error).__name__)

    async def _save(self, write: Write) -> None:
        news: TurnNews | None = None
        if write.kind == "turn":
            earlier = write.payload["earlier"] or await self._earlier(write)
            news = await self._extractor.read([*earlier, str(write.payload["text"])])
        async with self._memory.store.writing(write.owner) as rows:
            if not await self._end(rows.session, write.owner, write.number):
                return
            saving = Saving(rows, write.seen, self._memory.limits)
            if news is not None:
                await _save_news(saving, news, TurnSaved([]))
            elif write.kind == "entity":
                await saving.entity(entity_of(write.payload))
            else:
                await saving.relationship(relationship_of(write.payload))
        await self._memory.embed_missing(write.owner)

    async def _earlier(self, write: Write) -> list[str]:
        """Returns what the user said earlier in the conversation, oldest first."""
        try:
            conversation, run = (uuid.UUID(one) for one in write.seen)
        except ValueError:
            return []
        async with self._pool.session() as session:
            rows = await session.fetch(
                self._queries["earlier_turns"],
                write.owner.space,
                write.owner.user,
                conversation,
                run,
                MAX_EARLIER_TURNS,
            )
        return [row["text"] for row in reversed(rows)]

    async def _queue(  # noqa: PLR0917 - the columns of a write
        self,
        session: Session,
        owner: Owner,
        key: str,
        kind: str,
        seen: Provenance,
        payload: Mapping[str, Any],
    ) -> int | None:
        await session.execute(self._queries["set_owner"], *owner, "")
        return await self._add(session, owner, key, kind, seen, payload)

    async def _add(  # noqa: PLR0917 - as above
        self,
        session: Session,
        owner: Owner,
        key: str,
        kind: str,
        seen: Provenance,
        payload: Mapping[str, Any],
    ) -> int | None:
        text = json.dumps(payload).replace("\\u0000", "")
        number: int | None = await session.value(
            self._queries["add_write"], *owner, key, kind, *seen, text
        )
        return number

    async def _claim(self) -> Row | None:
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], "", "", "queue")
            return await session.row(self._queries["claim_write"], self._lease_seconds)

    async def _claim_of(self, owner: Owner) -> Row | None:
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], *owner, "")
            return await session.row(self._queries["claim_write_of"], *owner, self._lease_seconds)

    async def _waiting(self, owner: Owner) -> bool:
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], *owner, "")
            return bool(await session.value(self._queries["writes_waiting"], *owner))

    async def _end(self, session: Session, owner: Owner, number: int) -> bool:
        row = await session.row(self._queries["end_write"], *owner, number)
        return row is not None

    async def _give_up(self, write: Write, cause: str) -> None:
        get_logger("entity_memory").warning("write given up", number=write.number, cause=cause)
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], *write.owner, "")
            await session.execute(self._queries["give_up_write"], *write.owner, write.number, cause)

    async def _postpone(self, write: Write, cause: str) -> bool:
        """Puts a write off until its next attempt; returns whether it has ended instead, after too many."""
        if write.attempts >= _max_attempts(cause):
            await self._give_up(write, cause)
            return True
        # The exponent is bounded as well: 2.0**1024 is an OverflowError.
        wait = min(2.0 ** min(write.attempts, _MAX_EXPONENT), _MAX_BACKOFF)
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], "", "", "queue")
            await session.execute(self._queries["put_off_write"], write.number, wait, cause)
        return False

    async def _purge(self) -> None:
        async with self._pool.transaction() as session:
            await session.execute(self._queries["set_owner"], "", "", "queue")
            await session.execute(self._queries["purge_writes"], KEEP_DAYS)


async def _save_news(saving: Saving, news: TurnNews, saved: TurnSaved) -> None:
    """Saves what a turn adds. What was never meant goes first, then what is said ends what it takes the place of."""
    for one in news.retracted:
        if one.mistaken:
            saved.retracted += await saving.retract(one)
    for new in news.relationships:
        done = await saving.relationship(new)
        saved.retracted += len(done.ended)
        if done.relationship is not None:
            saved.relationships.append(done.relationship)
        elif done.outcome is not Outcome.BELOW_THRESHOLD:
            saved.over_limit += 1
    for one in news.retracted:
        if not one.mistaken:
            saved.retracted += await saving.retract(one)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def _call_of(owner: Owner) -> CallContext:
    """Returns the context for an owner's work, within the call that waits for it if there is one."""
    call = current_call_or_none()
    return CallContext(
        request_id=call.request_id if call else str(uuid.uuid4()),
        method=call.method if call else "entity_memory",
        space=owner.space,
        user=owner.user,
        scopes=_SCOPES,
        deadline=call.deadline if call else None,
    )


def _write(row: Row) -> Write:
    return Write(
        row["number"],
        Owner(row["space"], row["user_id"]),
        row["kind"],
        Provenance(row["conversation_id"], row["message_id"]),
        json.loads(row["payload"]),
        row["attempt_count"],
        row["failure"],
    )


def _dead_write(row: Row) -> DeadWrite:
    return DeadWrite(
        row["number"],
        row["kind"],
        Provenance(row["conversation_id"], row["message_id"]),
        row["failure"],
        row["attempt_count"],
        row["create_time"],
        row["end_time"],
    )


def _max_attempts(failure: str) -> int:
    return MAX_ATTEMPTS_UNAVAILABLE if failure == UNAVAILABLE else MAX_ATTEMPTS
