"""`/api/conversations`: the caller's conversations and their messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from braid.agent.v1 import agent_pb2
from gateway.rest.chat.requests import NewConversation, Title
from gateway.rest.chat.runs import SERVICE
from gateway.rest.http.calls import CallerDep, ClientsDep
from gateway.rest.http.request_parsing import JSON_BODY_ONLY
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_types import PageSize
from gateway.rest.mapping.message_json import respond
from gateway.rest.mapping.message_schema import shown
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


@router.post(
    "", status_code=201, responses=shown(agent_pb2.Conversation, 201), dependencies=[JSON_BODY_ONLY]
)
async def create_conversation(
    body: NewConversation, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Starts a conversation."""
    request = agent_pb2.CreateConversationRequest(title=body.title)
    method = SERVICE + "CreateConversation"
    answer = await caller.call(method, clients.agent.CreateConversation, request)
    return respond(answer.conversation, 201)


@router.get("", responses=shown(agent_pb2.ListConversationsResponse))
async def list_conversations(
    caller: CallerDep, clients: ClientsDep, limit: Limit = 0, cursor: Cursor = ""
) -> Response:
    """The caller's conversations, the one that was last used first, in pages."""
    request = agent_pb2.ListConversationsRequest(page_size=limit, page_token=cursor)
    method = SERVICE + "ListConversations"
    answer = await caller.call(method, clients.agent.ListConversations, request)
    return respond(answer)


@router.get("/{conversation_id}", responses=shown(agent_pb2.GetConversationResponse))
async def get_conversation(
    conversation_id: ConversationId, caller: CallerDep, clients: ClientsDep
) -> Response:
    """A conversation with its latest messages."""
    request = agent_pb2.GetConversationRequest(conversation_id=conversation_id)
    answer = await caller.call(SERVICE + "GetConversation", clients.agent.GetConversation, request)
    return respond(answer)


@router.get("/{conversation_id}/messages", responses=shown(agent_pb2.ListMessagesResponse))
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
    return respond(answer)


@router.patch(
    "/{conversation_id}", responses=shown(agent_pb2.Conversation), dependencies=[JSON_BODY_ONLY]
)
async def rename_conversation(
    conversation_id: ConversationId, body: Title, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Gives a conversation another title."""
    request = agent_pb2.RenameConversationRequest(conversation_id=conversation_id, title=body.title)
    method = SERVICE + "RenameConversation"
    answer = await caller.call(method, clients.agent.RenameConversation, request)
    return respond(answer.conversation)


@router.delete("/{conversation_id}", status_code=204, response_class=Response)
async def delete_conversation(
    conversation_id: ConversationId, caller: CallerDep, clients: ClientsDep
) -> Response:
    """Deletes a conversation with its messages."""
    request = agent_pb2.DeleteConversationRequest(conversation_id=conversation_id)
    method = SERVICE + "DeleteConversation"
    await caller.call(method, clients.agent.DeleteConversation, request)
    return Response(status_code=204)
