"""`braid ask "…"` answers one question; `braid chat` holds a stored conversation."""

from __future__ import annotations

import os
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.chat.output import RunOutput
from gateway.cli.chat.stream import RunStream
from gateway.cli.errors import CliError, StillRunningError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.options import AsJson
from gateway.cli.terminal_escape import line

if TYPE_CHECKING:
    from gateway.cli.api import Api
    from gateway.cli.session import Session

_ZONES = "/zoneinfo/"
_CANCELLED = "the question was cancelled"


class Profile(StrEnum):
    """The tools that may be used."""

    all = "all"
    search = "search"
    graph = "graph"


Tools = Annotated[Profile, typer.Option("--profile", help="Which tools may be used.")]
Zone = Annotated[
    str | None, typer.Option("--zone", help="Your IANA time zone. Default: this machine's.")
]


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question.")],
    profile: Tools = Profile.all,
    zone: Zone = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question in plain words, and see how it is answered."""
    session: Session = context.obj
    body = {"question": question, "profile": profile.value, "time_zone": zone or local_zone()}
    with session.api() as api:
        if as_json:
            answer = api.post("/api/chat", body)
            session.show_json(answer)
        else:
            answer = run_question(session, api, body)
    if answer.get("unavailable"):
        raise typer.Exit(ExitCode.PARTIAL)


def chat(
    context: typer.Context,
    conversation: Annotated[
        str | None, typer.Argument(help="A conversation to go on with, by its id.")
    ] = None,
    profile: Tools = Profile.all,
    zone: Zone = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each answer as a line of JSON.")
    ] = False,
) -> None:
    """Talk in a conversation that Braid keeps. Ctrl-C stops an answer, Ctrl-D ends the conversation."""
    session: Session = context.obj
    with session.api() as api:
        kept = conversation or str(api.post("/api/conversations", {})["id"])
        if conversation:
            api.get(f"/api/conversations/{conversation}")
        session.err.print(f"Conversation {line(kept)}", markup=False)
        while (question := _next_question(session)) is not None:
            body = {
                "question": question,
                "conversation_id": kept,
                "profile": profile.value,
                "time_zone": zone or local_zone(),
            }
            try:
                if as_json:
                    session.show_json_line(api.post("/api/chat", body))
                else:
                    run_question(session, api, body)
            except CliError as error:
                # One question that fails does not end the conversation.
                session.complain(error)
                if as_json:
                    session.show_json_line(error.as_json())


def run_question(session: Session, api: Api, body: dict[str, Any]) -> dict[str, Any]:
    """Asks a question and shows the run; returns how it ended. Ctrl-C stops the run and its tools."""
    run = RunStream(api, body)
    output = RunOutput(session.out, session.err)
    try:
        output.show(run.events())
    except KeyboardInterrupt:
        run.cancel()
        raise StillRunningError(_CANCELLED) from None
    return output.done


def local_zone() -> str:
    """Returns this machine's time zone by its IANA name; UTC if unknown."""
    named = os.environ.get("TZ", "").lstrip(":")
    if "/" in named and not named.startswith("/"):
        return named
    link = str(Path("/etc/localtime").resolve())
    if _ZONES in link:
        return link.rpartition(_ZONES)[2]
    return "UTC" if time.timezone == 0 else ""


def _next_question(session: Session) -> str | None:
    """Returns the next line; None at the end of the input. Skips empty lines."""
    while True:
        session.err.print("you> ", end="", markup=False)
        try:
            text = input()
        except (EOFError, KeyboardInterrupt):
            session.err.print()
            return None
        if text.strip():
            return text
