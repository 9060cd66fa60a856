"""`/api/conversations`: the caller's conversations and their messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.agent.v1 import agent_pb2
from gateway.rest.chat.requests import NewConversation, Title
from gateway.rest.chat.responses import Conversation, Conversations, Messages, WholeConversation
from gateway.rest.chat.runs import SERVICE
from gateway.rest.chat.serializers import conversation, message_json
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_types import PageSize
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.openapi import problems

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/conversations", tags=["chat"], responses=problems()
)

ConversationId = Annotated[
    str,
    Bounds(agent_pb2.GetConversationRequest, "conversation_id"),
    Path(description="The conversation's id."),
]
Limit = Annotated[
    PageSize,
    Bounds(agent_pb2.ListConversationsRequest, "page_size"),
    Query(description="How many, up to 200; more counts as 200. Default, and 0: 50."),
]
Cursor = Annotated[
    str,
    Bounds(agent_pb2.ListConversationsRequest, "page_token"),
    Query(description="`next_cursor` of the page before."),
]


@router.post("", status_code=201, response_model=Conversation, dependencies=[JSON_BODY_ONLY])
async def create_conversation(
    body: NewConversation, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Starts a conversation."""
    request = agent_pb2.CreateConversationRequest(title=body.title)
    method = SERVICE + "CreateConversation"
    answer = await caller.call(method, clients.agent.CreateConversation, request)
    return JsonResponse(conversation(answer.conversation), status=201)


@router.get("", response_model=Conversations)
async def list_conversations(
    caller: CallerDep, clients: ClientsDep, limit: Limit = 0, cursor: Cursor = ""
) -> Response:
    """The caller's conversations, the one that was last used first, in pages."""
    request = agent_pb2.ListConversationsRequest(page_size=limit, page_token=cursor)
    method = SERVICE + "ListConversations"
    answer = await caller.call(method, clients.agent.ListConversations, request)
    shown = [conversation(one) for one in answer.conversations]
    return JsonResponse({"conversations": shown, "next_cursor": answer.next_page_token or None})


@router.get("/{conversation_id}", response_model=WholeConversation)
async def get_conversation(
    conversation_id: ConversationId, caller: CallerDep, clients: ClientsDep
) -> Response:
    """A conversation with its latest messages."""
    request = agent_pb2.GetConversationRequest(conversation_id=conversation_id)
    answer = await caller.call(SERVICE + "GetConversation", clients.agent.GetConversation, request)
    messages = [message_json(one) for one in answer.messages]
    return JsonResponse({"conversation": conversation(answer.conversation), "messages": messages})


@router.get("/{conversation_id}/messages", response_model=Messages)
async def list_messages(
    conversation_id: ConversationId,
    caller: CallerDep,
    clients: ClientsDep,
    limit: Limit = 0,
    cursor: Cursor = "",
) -> Response:
    """A conversation's messages, latest first, in pages."""
    request = agent_pb2.ListMessagesRequest(
        conversation_id=conversation_id, page_size=limit, page_token=cursor
    )
    answer = await caller.call(SERVICE + "ListMessages", clients.agent.ListMessages, request)
    shown = [message_json(one) for one in answer.messages]
    return JsonResponse({"messages": shown, "next_cursor": answer.next_page_token or None})


@router.patch("/{conversation_id}", response_model=Conversation, dependencies=[JSON_BODY_ONLY])
async def rename_conversation(
    conversation_id: ConversationId, body: Title, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Gives a conversation another title."""
    request = agent_pb2.RenameConversationRequest(conversation_id=conversation_id, title=body.title)
    method = SERVICE + "RenameConversation"
    answer = await caller.call(method, clients.agent.RenameConversation, request)
    return JsonResponse(conversation(answer.conversation))


@router.delete("/{conversation_id}", status_code=204, response_class=Response)
async def delete_conversation(
    conversation_id: ConversationId, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Deletes a conversation with its messages."""
    request = agent_pb2.DeleteConversationRequest(conversation_id=conversation_id)
    method = SERVICE + "DeleteConversation"
    await caller.call(method, clients.agent.DeleteConversation, request)
    return Response(status_code=204)
