"""Request bodies of questions and conversations, and their conversion to messages."""

from __future__ import annotations

from typing import ClassVar, Literal

from google.protobuf.message import Message
from pydantic import Field

from braid.agent.v1 import agent_pb2
from gateway.rest.mapping.contract_rules import ContractModel
from gateway.rest.mapping.field_types import Instant, JsonBool, JsonInt32, Text, stamp

ProfileName = Literal["all", "search", "graph"]
PROFILES: dict[ProfileName, agent_pb2.ToolProfile.ValueType] = {
    "all": agent_pb2.TOOL_PROFILE_ALL,
    "search": agent_pb2.TOOL_PROFILE_SEARCH,
    "graph": agent_pb2.TOOL_PROFILE_GRAPH,
}


class SearchPreferences(ContractModel):
    """How tools search unless the model asks for something else."""

    contract: ClassVar[type[Message]] = agent_pb2.SearchPreferences

    use_vector: JsonBool | None = Field(default=None, description="Default true.")
    use_graph: JsonBool | None = Field(default=None, description="Default true.")
    default_limit: JsonInt32 | None = Field(default=None, description="1–50. Default 10.")

    def message(self) -> agent_pb2.SearchPreferences:
        """Converts the preferences to the contract's message."""
        return agent_pb2.SearchPreferences(
            use_vector=self.use_vector, use_graph=self.use_graph, default_limit=self.default_limit
        )


class Chat(ContractModel):
    """A question."""

    contract: ClassVar[type[Message]] = agent_pb2.AskRequest

    question: Text = Field(
        description="The question, 1–8,192 characters that are not all white space."
    )
    conversation_id: Text = Field(
        default="", description="The conversation it belongs to. Empty: it stands alone."
    )
    profile: ProfileName = Field(default="all", description="Which tools may be used.")
    search_preferences: SearchPreferences | None = None
    time_zone: Text = Field(
        default="",
        description="The caller's IANA time zone, for “today” and the like. Default: UTC.",
    )
    reference_time: Instant | None = Field(
        default=None, description="The instant that counts as now. Default: the server's clock."
    )
    session_id: Text = Field(default="", description="An id of the caller's own, for the logs.")
    stream: JsonBool = Field(
        default=False, description="Answer with events, as `Accept: text/event-stream` does."
    )

    def message(self, *, cancel_on_disconnect: bool) -> agent_pb2.AskRequest:
        """Converts the question to the contract's message."""
        preferences = self.search_preferences
        return agent_pb2.AskRequest(
            question=self.question,
            conversation_id=self.conversation_id,
            profile=PROFILES[self.profile],
            search_preferences=preferences.message() if preferences else None,
            time_zone=self.time_zone,
            reference_time=stamp(self.reference_time),
            session_id=self.session_id,
            cancel_on_disconnect=cancel_on_disconnect,
        )


class NewConversation(ContractModel):
    """A conversation to start."""

    contract: ClassVar[type[Message]] = agent_pb2.CreateConversationRequest

    title: Text = Field(
        default="", description="At most 200 characters. Empty: taken from the first question."
    )


class Title(ContractModel):
    """A conversation's new title."""

    contract: ClassVar[type[Message]] = agent_pb2.RenameConversationRequest

    title: Text = Field(description="1–200 characters that are not all white space.")
