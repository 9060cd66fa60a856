"""Maps the agent's events, conversations and messages to contract messages."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct

from braid.agent.v1 import agent_pb2
from braid.common.v1 import legs_pb2
from services.agent_orchestrator.agent.conversations.store import Conversation, Message
from services.agent_orchestrator.agent.runs import events
from services.runtime.times import to_timestamp

_STATUS = {
    "ok": agent_pb2.TOOL_STATUS_OK,
    "no_match": agent_pb2.TOOL_STATUS_NO_MATCH,
    "unavailable": agent_pb2.TOOL_STATUS_UNAVAILABLE,
    "degraded": agent_pb2.TOOL_STATUS_DEGRADED,
    "unknown_entity": agent_pb2.TOOL_STATUS_UNKNOWN_ENTITY,
    "empty_graph": agent_pb2.TOOL_STATUS_EMPTY_GRAPH,
    "ambiguous": agent_pb2.TOOL_STATUS_AMBIGUOUS,
    "rejected": agent_pb2.TOOL_STATUS_REJECTED,
}
_END = {
    "complete": agent_pb2.RUN_END_COMPLETE,
    "cancelled": agent_pb2.RUN_END_CANCELLED,
    "length": agent_pb2.RUN_END_LENGTH,
}
_ROLE = {
    "user": agent_pb2.MESSAGE_ROLE_USER,
    "assistant": agent_pb2.MESSAGE_ROLE_ASSISTANT,
}


def event_message(event: events.Event) -> agent_pb2.RunEvent:  # noqa: C901 - one case for each kind of event
    """Maps an event of a run."""
    message = agent_pb2.RunEvent(id=event.number, create_time=to_timestamp(event.time))
    match event.what:
        case events.Started() as started:
            message.started.CopyFrom(
                agent_pb2.RunStarted(
                    run_id=started.run_id,
                    conversation_id=started.conversation_id,
                    model=started.model,
                    tools=started.tools,
                )
            )
        case events.ToolCalled() as called:
            message.tool_call.CopyFrom(
                agent_pb2.ToolCalled(
                    call_id=called.call_id,
                    tool=called.tool,
                    arguments=ParseDict(called.arguments, Struct()),
                )
            )
        case events.ToolReturned() as returned:
            message.tool_result.CopyFrom(
                agent_pb2.ToolReturned(
                    call_id=returned.call_id,
                    tool=returned.tool,
                    status=_STATUS[returned.status],
                    item_count=returned.item_count,
                    message=returned.message,
                    elapsed=_duration(returned.seconds),
                )
            )
        case events.LegEnded() as leg:
            message.leg_status.CopyFrom(
                agent_pb2.LegEnded(call_id=leg.call_id, report=_report(leg))
            )
        case events.TextAdded() as text:
            message.text.CopyFrom(agent_pb2.TextAdded(text=text.text, restart=text.restart))
        case events.Cited() as cited:
            message.citation.CopyFrom(citation_message(cited))
        case events.Used() as used:
            message.usage.CopyFrom(
                agent_pb2.RunUsage(
                    model=used.model,
                    request_count=used.requests,
                    input_token_count=used.input_tokens,
                    output_token_count=used.output_tokens,
                    tool_call_count=used.tool_calls,
                    tool_elapsed=_duration(used.tool_seconds),
                )
            )
        case events.Noticed() as notice:
            message.notice.CopyFrom(
                agent_pb2.RunNotice(message=notice.message, unavailable=notice.unavailable)
            )
        case events.Done() as done:
            message.done.CopyFrom(
                agent_pb2.RunDone(
                    answer=done.answer,
                    end=_END[done.end],
                    model=done.model,
                    unavailable=done.unavailable,
                )
            )
        case events.Failed() as failed:
            message.error.CopyFrom(
                agent_pb2.RunFailed(
                    reason=failed.reason,
                    message=failed.message,
                    retry_delay=None
                    if failed.retry_after is None
                    else _duration(failed.retry_after),
                )
            )
    return message


def citation_message(cited: events.Cited) -> agent_pb2.AnswerCitation:
    """Maps a source of an answer."""
    return agent_pb2.AnswerCitation(
        number=cited.number,
        document_id=cited.document_id,
        document_title=cited.title,
        source=cited.source,
        chunk_id=cited.chunk_id,
        start_char=cited.start,
        end_char=cited.end,
        quote=cited.quote,
        spans=[agent_pb2.TextSpan(start=start, end=end) for start, end in cited.spans],
    )


def conversation_message(conversation: Conversation) -> agent_pb2.Conversation:
    """Maps a conversation."""
    return agent_pb2.Conversation(
        id=conversation.id,
        title=conversation.title,
        create_time=to_timestamp(conversation.create_time),
        update_time=to_timestamp(conversation.update_time),
        message_count=conversation.message_count,
    )


def message_message(message: Message) -> agent_pb2.Message:
    """Maps a message of a conversation."""
    return agent_pb2.Message(
        number=message.number,
        role=_ROLE[message.role],
        text=message.text,
        citations=[citation_message(cited) for cited in message.citations],
        run_id=message.run_id,
        model=message.model,
        create_time=to_timestamp(message.create_time),
        end=_END.get(message.end, agent_pb2.RUN_END_UNSPECIFIED),
    )


def _report(leg: events.LegEnded) -> legs_pb2.LegReport:
    return legs_pb2.LegReport(
        leg=legs_pb2.Leg.Value(f"LEG_{leg.leg.upper()}"),
        status=legs_pb2.LegStatus.Value(f"LEG_STATUS_{leg.status}"),
        reason=legs_pb2.LegReason.Value(f"LEG_REASON_{leg.reason}"),
        elapsed=_duration(leg.seconds),
        hit_count=leg.hit_count,
        cached=leg.cached,
    )


def _duration(seconds: float) -> Duration:
    whole = int(seconds)
    return Duration(seconds=whole, nanos=int((seconds - whole) * 1_000_000_000))
