"""Conversations and their messages in PostgreSQL. Only its own user can access a conversation."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from services.agent_orchestrator.agent.runs.event_log import Owner
from services.agent_orchestrator.agent.runs.events import (
    Cited,
    dump_citations,
    load_citations,
)
from services.postgres.pool import Pool, Row, Session
from services.runtime.context import remaining
from services.runtime.errors import (
    FieldError,
    InvalidFieldError,
    NotFoundError,
    WrongStateError,
)
from services.runtime.paging import decode_token, encode_token
from services.runtime.queries import Queries

Role = Literal["user", "assistant"]
DEFAULT_PAGE, MAX_PAGE = 50, 200
DEFAULT_FOUND, MAX_FOUND = 10, 50
MAX_TITLE = 80
BUSY = "The conversation is still answering another question. Try again when that has ended."
_LAST_NUMBER = 2**31 - 1
_FIRST_WAIT, _MAX_WAIT = 0.02, 0.25


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation; `summary` covers its messages up to number `summarized_through`."""

    id: str
    title: str
    create_time: datetime
    update_time: datetime
    message_count: int
    summary: str = ""
    summarized_through: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    number: int
    role: Role
    text: str
    citations: tuple[Cited, ...]
    run_id: str
    model: str
    end: str
    create_time: datetime


class FoundMessage(NamedTuple):
    """A message, with the id and the title of its conversation."""

    conversation_id: str
    title: str
    message: Message


class Turn(NamedTuple):
    """A question and its answer, to be stored."""

    question: str
    answer: str
    citations: tuple[Cited, ...]
    model: str
    end: str


class ConversationStore:
    """Creates, reads and changes conversations, and lets only one run at a time answer in each."""

    def __init__(self, pool: Pool, *, lease_seconds: float) -> None:
        self._pool = pool
        self._queries = Queries.load("sql", "services.agent_orchestrator.agent.conversations")
        self._lease_seconds = lease_seconds

    async def create(self, owner: Owner, title: str) -> Conversation:
        """Creates a conversation."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["add_conversation"], uuid.uuid4(), owner.space, owner.user, title
            )
        return _conversation(_found(row))

    async def get(self, owner: Owner, conversation_id: str) -> Conversation:
        """Returns a conversation. Raises NotFoundError if the user has none with this id."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["get_conversation"],
                uuid.UUID(conversation_id),
                owner.space,
                owner.user,
            )
        found = _found(row)
        return _conversation(found, found["summary"], found["summarized_through"])

    async def list(
        self, owner: Owner, page_size: int, page_token: str
    ) -> tuple[list[Conversation], str]:
        """Returns a page of conversations, most recently used first, and the next page token."""
        query = ("conversations", owner.space, owner.user)
        time, last = None, None
        if page_token:
            after = decode_token(page_token, query, length=2)
            time, last = _position(after)
        size = _page(page_size)
        async with self._pool.session() as session:
            rows = await session.fetch(
                self._queries["list_conversations"], owner.space, owner.user, time, last, size + 1
            )
        found = [_conversation(row) for row in rows[:size]]
        if len(rows) <= size:
            return found, ""
        position = [found[-1].update_time.isoformat(), found[-1].id]
        return found, encode_token(query, [*position])

    async def rename(self, owner: Owner, conversation_id: str, title: str) -> Conversation:
        """Changes a conversation's title. Raises NotFoundError if the user has no such conversation."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["rename_conversation"],
                uuid.UUID(conversation_id),
                owner.space,
                owner.user,
                title,
            )
        return _conversation(_found(row))

    async def delete(self, owner: Owner, conversation_id: str) -> None:
        """Deletes a conversation with its messages and runs. Raises NotFoundError if the user has none with this id."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["delete_conversation"],
                uuid.UUID(conversation_id),
                owner.space,
                owner.user,
            )
        _found(row)

    async def messages(
        self, owner: Owner, conversation_id: str, *, limit: int, before: int = _LAST_NUMBER
    ) -> Sequence[Message]:
        """Returns the latest messages before a number, latest first."""
        async with self._pool.session() as session:
            rows = await session.fetch(
                self._queries["list_messages"],
                uuid.UUID(conversation_id),
                owner.space,
                owner.user,
                before,
                limit,
            )
        return [_message(row) for row in rows]

    async def message_page(
        self, owner: Owner, conversation_id: str, page_size: int, page_token: str
    ) -> tuple[Sequence[Message], str]:
        """Returns a page of messages, latest first, and the next page token. Raises NotFoundError."""
        await self.get(owner, conversation_id)
        query = ("messages", owner.space, owner.user, conversation_id)
        before = _LAST_NUMBER
        if page_token:
            (before,) = decode_token(page_token, query, length=1)
        size = _page(page_size)
        found = await self.messages(owner, conversation_id, limit=size + 1, before=int(before))
        if len(found) <= size:
            return found, ""
        return found[:size], encode_token(query, [found[size - 1].number])

    async def search(
        self, owner: Owner, query: str, *, limit: int, role: Role | None = None
    ) -> Sequence[FoundMessage]:
        """Returns messages of the user's conversations with a word of the query, those with most of its words first."""
        size = min(limit or DEFAULT_FOUND, MAX_FOUND)
        async with self._pool.session() as session:
            rows = await session.fetch(
                self._queries["search_messages"], owner.space, owner.user, query, role, size
            )
        return [FoundMessage(str(row["id"]), row["title"], _message(row)) for row in rows]

    async def forget(self, owner: Owner, words: str | None) -> int:
        """Lets searches find the user's messages with all of these words no more, or none of all their messages.

        Returns how many of them the user wrote.
        """
        async with self._pool.transaction() as session:
            query = self._queries["forget_messages"]
            return int(await session.value(query, owner.space, owner.user, words) or 0)

    async def acquire(
        self,
        owner: Owner,
        conversation_id: str,
        run_id: str,
        *,
        wait_seconds: float,
        store_seconds: float,
    ) -> None:
        """Leases the conversation to a run, once no other run holds its lease.

        Raises NotFoundError if it does not exist, WrongStateError if another run still answers after `wait_seconds`,
        TimeoutError if the store does not answer within `store_seconds`.
        """
        loop = asyncio.get_running_loop()
        until, wait = loop.time() + remaining(wait_seconds), _FIRST_WAIT
        while True:
            async with asyncio.timeout(store_seconds):
                if await self._acquired(owner, conversation_id, run_id):
                    return
                await self.get(owner, conversation_id)
            if loop.time() + wait > until:
                raise WrongStateError(BUSY)
            await asyncio.sleep(wait)
            wait = min(wait * 2, _MAX_WAIT)

    async def _acquired(self, owner: Owner, conversation_id: str, run_id: str) -> bool:
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["acquire_conversation"],
                uuid.UUID(conversation_id),
                owner.space,
                owner.user,
                uuid.UUID(run_id),
                self._lease_seconds,
            )
        return row is not None

    async def add_turn(
        self, session: Session, conversation_id: str, run_id: str, turn: Turn
    ) -> None:
        """Stores a turn and ends the run's lease, as part of the caller's transaction.

        Raises WrongStateError if the run has lost its lease: another run may have answered meanwhile.
        """
        row = await session.row(
            self._queries["add_turn"],
            uuid.UUID(conversation_id),
            uuid.UUID(run_id),
            _storable(turn.question),
            _storable(turn.answer),
            _storable(dump_citations(turn.citations)).replace("\\u0000", ""),
            turn.model,
            _title(turn.question),
            turn.end,
        )
        if row is None:
            raise WrongStateError("The conversation was deleted, or another run has taken it over.")

    async def release(self, conversation_id: str, run_id: str) -> None:
        """Ends the run's lease without storing a turn."""
        async with self._pool.session() as session:
            await session.execute(
                self._queries["release_conversation"],
                uuid.UUID(conversation_id),
                uuid.UUID(run_id),
            )

    async def save_summary(self, conversation_id: str, summary: str, through: int) -> None:
        """Stores the summary of the messages up to number `through`."""
        async with self._pool.session() as session:
            await session.execute(
                self._queries["save_summary"], uuid.UUID(conversation_id), summary, through
            )


def _found(row: Row | None) -> Row:
    if row is None:
        raise NotFoundError("conversation")
    return row


def _conversation(row: Row, summary: str = "", through: int = 0) -> Conversation:
    return Conversation(
        id=str(row["id"]),
        title=row["title"],
        create_time=row["create_time"],
        update_time=row["update_time"],
        message_count=row["message_count"],
        summary=summary,
        summarized_through=through,
    )


def _message(row: Row) -> Message:
    return Message(
        number=row["number"],
        role=row["role"],
        text=row["text"],
        citations=load_citations(row["citations"]),
        run_id=str(row["run_id"]) if row["run_id"] else "",
        model=row["model"],
        end=row["ending"],
        create_time=row["create_time"],
    )


def _position(after: Sequence[object]) -> tuple[datetime, uuid.UUID]:
    try:
        return datetime.fromisoformat(str(after[0])), uuid.UUID(str(after[1]))
    except ValueError:
        problem = FieldError("page_token", "is not a token of this service")
        raise InvalidFieldError(problem) from None


def _page(size: int) -> int:
    return min(size or DEFAULT_PAGE, MAX_PAGE)


def _title(question: str) -> str:
    """Returns a conversation's title: the beginning of its first question, cut at a word boundary."""
    line = " ".join(_storable(question).split())
    if len(line) <= MAX_TITLE:
        return line
    cut = line[:MAX_TITLE].rsplit(" ", 1)[0]
    return f"{cut} …"


def _storable(text: str) -> str:
    """Removes NUL characters, which PostgreSQL's text type cannot store."""
    return text.replace("\x00", "")
