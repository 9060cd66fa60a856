"""The contract's AgentService: maps requests and events; runs and conversations have their own modules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from services.agent_orchestrator.agent.conversations.history import StoredMessage
from services.agent_orchestrator.agent.conversations.store import ConversationStore, Role
from services.agent_orchestrator.agent.dependencies import SearchPreferences
from services.agent_orchestrator.agent.mapping import (
    conversation_message,
    event_message,
    message_message,
)
from services.agent_orchestrator.agent.runs.ask import Ask
from services.agent_orchestrator.agent.runs.event_log import Owner
from services.agent_orchestrator.agent.runs.runs import Runs
from services.agent_orchestrator.agent.toolsets import Profile
from services.runtime.context import current_call, may_write
from services.runtime.errors import FieldError, InvalidFieldError, MissingScopeError
from services.runtime.idempotency import new_id
from services.runtime.times import to_datetime, utc_now

_PROFILES: dict[int, Profile] = {
    agent_pb2.TOOL_PROFILE_UNSPECIFIED: "all",
    agent_pb2.TOOL_PROFILE_ALL: "all",
    agent_pb2.TOOL_PROFILE_SEARCH: "search",
    agent_pb2.TOOL_PROFILE_GRAPH: "graph",
}
_ROLES: dict[int, Role] = {
    agent_pb2.MESSAGE_ROLE_USER: "user",
    agent_pb2.MESSAGE_ROLE_ASSISTANT: "assistant",
}
_DEFAULT_MESSAGES = 50


class AgentServicer(agent_pb2_grpc.AgentServiceServicer):
    """Serves runs and conversations."""

    def __init__(self, runs: Runs, conversations: ConversationStore) -> None:
        self._runs = runs
        self._conversations = conversations

    async def Ask(
        self, request: agent_pb2.AskRequest, _context: Any
    ) -> AsyncIterator[agent_pb2.AskResponse]:
        """Starts a run and streams its events from first to last. A repetition streams those of the same run."""
        run_id = new_id("run")
        is_keyed = bool(current_call().idempotency_key)
        if is_keyed and await self._runs.exists(_owner(), run_id):
            events = self._runs.follow(_owner(), run_id, 0)
        else:
            events = (await self._runs.start(_ask(request), run_id)).follow(0)
        async for event in events:
            yield agent_pb2.AskResponse(event=event_message(event))

    async def StreamRunEvents(
        self, request: agent_pb2.StreamRunEventsRequest, _context: Any
    ) -> AsyncIterator[agent_pb2.StreamRunEventsResponse]:
        """Streams a run's events after a given one."""
        events = self._runs.follow(_owner(), request.run_id, request.after_event_id)
        async for event in events:
            yield agent_pb2.StreamRunEventsResponse(event=event_message(event))

    async def CancelRun(
        self, request: agent_pb2.CancelRunRequest, _context: Any
    ) -> agent_pb2.CancelRunResponse:
        """Cancels a run."""
        await self._runs.cancel(_owner(), request.run_id, including_kept=may_write())
        return agent_pb2.CancelRunResponse()

    async def CreateConversation(
        self, request: agent_pb2.CreateConversationRequest, _context: Any
    ) -> agent_pb2.CreateConversationResponse:
        """Creates a conversation."""
        made = await self._conversations.create(_owner(), request.title)
        return agent_pb2.CreateConversationResponse(conversation=conversation_message(made))

    async def GetConversation(
        self, request: agent_pb2.GetConversationRequest, _context: Any
    ) -> agent_pb2.GetConversationResponse:
        """Returns a conversation with its latest messages."""
        owner = _owner()
        found = await self._conversations.get(owner, request.conversation_id)
        limit = request.message_limit if request.HasField("message_limit") else _DEFAULT_MESSAGES
        messages = await self._conversations.messages(owner, found.id, limit=limit)
        return agent_pb2.GetConversationResponse(
            conversation=conversation_message(found),
            messages=[message_message(message) for message in reversed(messages)],
        )

    async def ListConversations(
        self, request: agent_pb2.ListConversationsRequest, _context: Any
    ) -> agent_pb2.ListConversationsResponse:
        """Returns a page of conversations."""
        found, token = await self._conversations.list(
            _owner(), request.page_size, request.page_token
        )
        return agent_pb2.ListConversationsResponse(
            conversations=[conversation_message(one) for one in found], next_page_token=token
        )

    async def ListMessages(
        self, request: agent_pb2.ListMessagesRequest, _context: Any
    ) -> agent_pb2.ListMessagesResponse:
        """Returns a page of messages."""
        found, token = await self._conversations.message_page(
            _owner(), request.conversation_id, request.page_size, request.page_token
        )
        return agent_pb2.ListMessagesResponse(
            messages=[message_message(one) for one in found], next_page_token=token
        )

    async def SearchMessages(
        self, request: agent_pb2.SearchMessagesRequest, _context: Any
    ) -> agent_pb2.SearchMessagesResponse:
        """Returns the messages with most words of the query."""
        found = await self._conversations.search(
            _owner(), request.query, limit=request.limit, role=_ROLES.get(request.role)
        )
        return agent_pb2.SearchMessagesResponse(
            messages=[
                agent_pb2.FoundMessage(
                    conversation_id=one.conversation_id,
                    conversation_title=one.title,
                    message=message_message(one.message),
                )
                for one in found
            ]
        )

    async def RenameConversation(
        self, request: agent_pb2.RenameConversationRequest, _context: Any
    ) -> agent_pb2.RenameConversationResponse:
        """Changes a conversation's title."""
        renamed = await self._conversations.rename(_owner(), request.conversation_id, request.title)
        return agent_pb2.RenameConversationResponse(conversation=conversation_message(renamed))

    async def DeleteConversation(
        self, request: agent_pb2.DeleteConversationRequest, _context: Any
    ) -> agent_pb2.DeleteConversationResponse:
        """Deletes a conversation."""
        await self._conversations.delete(_owner(), request.conversation_id)
        return agent_pb2.DeleteConversationResponse()


def _owner() -> Owner:
    call = current_call()
    return Owner(call.space, call.user)


def _ask(request: agent_pb2.AskRequest) -> Ask:
    starts = request.conversation == agent_pb2.CONVERSATION_START_NEW
    if starts and not may_write():
        raise MissingScopeError("write", "A conversation is started with the scope `write` only.")
    return Ask(
        question=request.question,
        conversation_id=request.conversation_id,
        profile=_PROFILES[request.profile],
        preferences=_preferences(request.search_preferences),
        now=to_datetime(request.reference_time)
        if request.HasField("reference_time")
        else utc_now(),
        zone=_zone(request.time_zone),
        session_id=request.session_id,
        prior=[
            StoredMessage(
                "user" if said.role == agent_pb2.MESSAGE_ROLE_USER else "assistant", said.text
            )
            for said in request.prior_messages
        ],
        cancel_on_disconnect=request.cancel_on_disconnect,
        skip_memory=request.skip_memory,
        keeps=may_write(),
        starts_conversation=starts,
    )


def _preferences(given: agent_pb2.SearchPreferences) -> SearchPreferences:
    default = SearchPreferences()
    return SearchPreferences(
        use_vector=given.use_vector if given.HasField("use_vector") else default.use_vector,
        use_graph=given.use_graph if given.HasField("use_graph") else default.use_graph,
        default_limit=given.default_limit
        if given.HasField("default_limit")
        else default.default_limit,
    )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        problem = FieldError("time_zone", "must be the name of an IANA time zone")
        raise InvalidFieldError(problem) from None
