"""`braid conversations`: list, search, read, rename and delete the conversations of `braid chat` and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli.options import AsJson, Cursor, Limit, print_page, show
from gateway.cli.output import QUIET, show_pairs
from gateway.cli.terminal_escape import block, line, styled
from gateway.cli.times import moment

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.session import Session


Json = dict[str, Any]
conversations = typer.Typer(
    help="List, search, read, rename and delete conversations.", no_args_is_help=True
)
ConversationId = Annotated[str, typer.Argument(help="The conversation's id.")]
_COLUMNS = {"id": "id", "title": "title", "messages": "message_count", "last used": "last_used"}


@conversations.command("list")
def list_conversations(
    context: typer.Context, limit: Limit = None, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List conversations, the last used first. `braid chat ID` continues one."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/conversations", limit=limit, cursor=cursor)
    if not as_json:
        for one in answer["conversations"]:
            one["last_used"] = moment(one["updated_at"])
    print_page(session, answer, "conversations", _COLUMNS, as_json)


@conversations.command("search")
def search_messages(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="Words of the message.")],
    *,
    mine: Annotated[bool, typer.Option("--mine", help="Only messages that you wrote.")] = False,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Find messages in your conversations, and when they were written."""
    session: Session = context.obj
    role = "user" if mine else None
    with session.api() as api:
        answer = api.get("/api/messages", query=query, role=role, limit=limit)
    show(session, answer, _show_found, as_json)


@conversations.command("get")
def get_conversation(
    context: typer.Context, conversation_id: ConversationId, as_json: AsJson = False
) -> None:
    """Show a conversation with its latest messages."""
    from gateway.cli.api import segment  # noqa: PLC0415 - only commands that ask need it

    session: Session = context.obj
    with session.api() as api:
        answer = api.get(f"/api/conversations/{segment(conversation_id)}")
    show(session, answer, _show_messages, as_json)


@conversations.command()
def rename(
    context: typer.Context,
    conversation_id: ConversationId,
    title: Annotated[str, typer.Argument(help="Its new title, 1–200 characters.")],
    as_json: AsJson = False,
) -> None:
    """Give a conversation another title."""
    from gateway.cli.api import segment  # noqa: PLC0415 - as above

    session: Session = context.obj
    with session.api() as api:
        answer = api.patch(f"/api/conversations/{segment(conversation_id)}", {"title": title})
    show(session, answer, show_pairs, as_json)


@conversations.command("delete")
def delete_conversation(
    context: typer.Context, conversation_id: ConversationId, as_json: AsJson = False
) -> None:
    """Delete a conversation with its messages."""
    from gateway.cli.api import segment  # noqa: PLC0415 - as above

    session: Session = context.obj
    with session.api() as api:
        api.request_empty("DELETE", f"/api/conversations/{segment(conversation_id)}")
    show(session, {"deleted": conversation_id}, show_pairs, as_json)


def _show_messages(out: Console, answer: Json) -> None:
    out.print(styled(answer["conversation"]["title"] or "Untitled", "bold"), soft_wrap=True)
    for message in answer["messages"]:
        out.print(Text(f"\n{message['role']}  {moment(message['created_at'])}", style=QUIET))
        out.print(Text(block(message["text"])), soft_wrap=True)


def _show_found(out: Console, answer: Json) -> None:
    if not answer["messages"]:
        out.print("No messages.")
    for found in answer["messages"]:
        message = found["message"]
        written = f"{message['role']}  {moment(message['created_at'])}"
        title = found["conversation_title"] or "Untitled"
        place = f"\n{written}  {line(title)}  {found['conversation_id']}"
        out.print(Text(place, style=QUIET), soft_wrap=True)
        out.print(Text(block(message["text"])), soft_wrap=True)
