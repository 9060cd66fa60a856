"""`braid memories`: add, search, relate and remove typed memories."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli.api import segment
from gateway.cli.errors import CliError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.graph_output import show_cursor, show_indented
from gateway.cli.options import AsJson, Cursor, Limit, show
from gateway.cli.output import QUIET, show_pairs
from gateway.cli.terminal_escape import line, styled
from gateway.cli.times import moment

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.session import Session


Json = dict[str, Any]
memories = typer.Typer(help="Add, search, relate and remove typed memories.", no_args_is_help=True)
_SHOWN_CHARACTERS = 200


class Mode(StrEnum):
    """How memories are searched."""

    hybrid = "hybrid"
    vector = "vector"
    text = "text"


MemoryId = Annotated[str, typer.Argument(help="The memory's id.")]
Types = Annotated[
    list[str] | None, typer.Option("--type", help="Only of this type; may be given again.")
]
SessionId = Annotated[str, typer.Option("--session", help="Only memories of this session.")]


@memories.command()
def add(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    content: Annotated[str, typer.Argument(help="The text.")],
    kind: Annotated[str, typer.Option("--type", help="Its type, such as ERROR.")] = "",
    title: Annotated[str, typer.Option(help="Its title.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be given again.")] = None,
    session_id: Annotated[
        str, typer.Option("--session", help="The session that it belongs to.")
    ] = "",
    relation: Annotated[
        list[str] | None,
        typer.Option(help="What it is related to, as FIXES:ID; may be given again."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a memory."""
    session: Session = context.obj
    body = {
        "content": content,
        "type": kind,
        "title": title,
        "tags": tag or [],
        "session_id": session_id,
        "relations": [_relation(one) for one in relation or ()],
    }
    with session.api() as api:
        answer = api.post("/api/memories", body)
    show(session, answer, _show_memory, as_json)


@memories.command("list")
def list_memories(  # noqa: PLR0917 - as above
    context: typer.Context,
    kind: Types = None,
    session_id: SessionId = "",
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List memories, the newest first."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(
            "/api/memories",
            type=kind or None,
            session_id=session_id or None,
            limit=limit,
            cursor=cursor,
        )
    show(session, answer, _show_page, as_json)


@memories.command("get")
def show_memory(context: typer.Context, memory_id: MemoryId, as_json: AsJson = False) -> None:
    """Show a memory and its relations."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(f"/api/memories/{segment(memory_id)}")
    show(session, answer, _show_memory, as_json)


@memories.command()
def search(  # noqa: PLR0917 - as above
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    mode: Annotated[
        Mode, typer.Option(help="By meaning and words, or by one of them.")
    ] = Mode.hybrid,
    expand: Annotated[bool, typer.Option(help="Follow relations from what is found.")] = False,
    hops: Annotated[int | None, typer.Option(help="With --expand: how far, 1–3.")] = None,
    related: Annotated[
        bool,
        typer.Option(
            "--context", help="Leave the order as it is, and show what each is related to."
        ),
    ] = False,
    rerank: Annotated[bool, typer.Option(help="Rerank what is found.")] = True,
    kind: Types = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag; may be given again.")
    ] = None,
    session_id: SessionId = "",
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Search memories."""
    session: Session = context.obj
    body: Json = {
        "query": query,
        "limit": limit,
        "types": kind or [],
        "tags": tag or [],
        "session_id": session_id,
        "context": related,
    }
    if hops is not None:
        body["expansion"] = {"max_hops": hops}
    with session.api() as api:
        found, headers = api.post_for_list(
            "/api/memories/search",
            body,
            search_mode=mode.value,
            use_graph_expansion=expand or related or hops is not None,
            use_reranking=rerank,
        )
    went = {name: headers.get(f"x-{name}-status") for name in ("search", "expansion")}
    nearest = [one for one in headers.get("x-nearest-memories", "").split(", ") if one]
    show(session, {"results": found, "nearest": nearest, **went}, _show_found, as_json)
    if any(one and one.startswith("DEGRADED") for one in went.values()):
        raise typer.Exit(ExitCode.PARTIAL)


@memories.command()
def relate(  # noqa: PLR0917 - as above
    context: typer.Context,
    memory_id: MemoryId,
    relation_type: Annotated[str, typer.Argument(help="Such as FIXES, RELATED or CONTRADICTS.")],
    target_id: Annotated[str, typer.Argument(help="The memory that the relation leads to.")],
    strength: Annotated[float | None, typer.Option(help="How strong it is, 0–1.")] = None,
    as_json: AsJson = False,
) -> None:
    """Relate a memory to another one."""
    session: Session = context.obj
    body = {"target_id": target_id, "relation_type": relation_type, "strength": strength}
    with session.api() as api:
        answer = api.post(f"/api/memories/{segment(memory_id)}/relations", body)
    show(session, answer, _show_relation, as_json)


@memories.command()
def unrelate(
    context: typer.Context,
    memory_id: MemoryId,
    target_id: Annotated[str, typer.Argument(help="The memory that the relation leads to.")],
    relation_type: Annotated[
        str,
        typer.Option("--type", help="Only of this type, such as FIXES. Default: of every type."),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Remove the relations from a memory to another one."""
    session: Session = context.obj
    path = f"/api/memories/{segment(memory_id)}/relations/{segment(target_id)}"
    if relation_type:
        path += f"?relation_type={segment(relation_type)}"
    with session.api() as api:
        answer = api.delete(path)
    show(session, answer, show_pairs, as_json)


@memories.command()
def update(  # noqa: PLR0917 - as above
    context: typer.Context,
    memory_id: MemoryId,
    content: Annotated[str | None, typer.Argument(help="Its text. Default: unchanged.")] = None,
    kind: Annotated[str | None, typer.Option("--type", help="Its type.")] = None,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="A tag in place of those it has; repeatable.")
    ] = None,
    importance: Annotated[float | None, typer.Option(help="Its importance, 0 to 1.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change a memory; what it said before is its past. Another text has another id."""
    session: Session = context.obj
    given = {
        "content": content,
        "type": kind,
        "title": title,
        "tags": tag,
        "importance": importance,
    }
    body = {name: value for name, value in given.items() if value is not None}
    with session.api(changes=True) as api:
        answer = api.patch(f"/api/memories/{segment(memory_id)}", body)
    show(session, answer, _show_memory, as_json)


@memories.command()
def delete(context: typer.Context, memory_id: MemoryId, as_json: AsJson = False) -> None:
    """Remove a memory and its relations."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.delete(f"/api/memories/{segment(memory_id)}")
    show(session, answer, show_pairs, as_json)


@memories.command()
def close(
    context: typer.Context,
    session_id: Annotated[str, typer.Argument(help="The session's id.")],
    as_json: AsJson = False,
) -> None:
    """Close a session and write its summary."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.post("/api/memories/sessions/close", {"session_id": session_id})
    show(session, answer, lambda out, shown: _show_memory(out, shown["summary"]), as_json)


@memories.command()
def infer(
    context: typer.Context,
    limit: Annotated[
        int | None,
        typer.Option(help="How many of the newest memories. Default 100; all with --background."),
    ] = None,
    background: Annotated[
        bool, typer.Option("--background", help="Start it as a job: see `braid jobs get`.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Infer relations between memories from what they say and how they are used."""
    session: Session = context.obj
    path = "/api/inference/jobs" if background else "/api/inference/run"
    with session.api(changes=True) as api:
        answer = api.post(path if limit is None else f"{path}?limit={limit}", None)
    show(session, answer, _show_job if background else show_pairs, as_json)


@memories.command()
def stats(context: typer.Context, as_json: AsJson = False) -> None:
    """Count memories and the relations between them."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/graph/stats")
    show(session, answer, show_pairs, as_json)


@memories.command()
def types(context: typer.Context, as_json: AsJson = False) -> None:
    """List the types that memories may have."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/memories/types")
    show(session, answer, lambda out, shown: out.print("\n".join(shown["types"])), as_json)


def _show_job(out: Console, answer: Json) -> None:
    show_pairs(out, {name: answer["job"][name] for name in ("id", "kind", "state")})


def _relation(text: str) -> Json:
    kind, colon, target = text.partition(":")
    if not colon:
        raise CliError(
            f"{text}: must be a relation's type and an id, such as FIXES:ID", reason="INVALID_FIELD"
        )
    return {"relation_type": kind, "target_id": target}


def _show_page(out: Console, answer: Json) -> None:
    for one in answer["memories"]:
        _show_memory(out, one)
    if not answer["memories"]:
        out.print("No memories.")
    show_cursor(out, answer)


def _show_found(out: Console, answer: Json) -> None:
    for one in answer["results"]:
        head = Text(f"{one['composite_score']:.4f}  ")
        _show_head(out, one["memory"], head)
        path = " → ".join(step["relation_type"] for step in one["path"])
        show_indented(out, f"{one['memory']['id']}{' · by ' + path if path else ''}")
        for other in one.get("related") or ():
            ways = " → ".join(step["relation_type"] for step in other["path"])
            show_indented(out, f"{ways} {other['memory']['id']}: {other['memory']['content']}")
    if not answer["results"]:
        out.print("No memories.")
    if answer["nearest"]:
        out.print(Text("\nNearest, but not considered relevant", style=QUIET))
        for memory_id in answer["nearest"]:
            show_indented(out, memory_id)
    notes = [f"{name} {answer[name]}" for name in ("search", "expansion") if answer[name]]
    if notes:
        out.print(Text(line(" · ".join(notes)), style=QUIET), soft_wrap=True)


def _show_memory(out: Console, one: Json) -> None:
    _show_head(out, one, Text())
    parts = [", ".join(one["tags"]), f"session {one['session_id']}" if one["session_id"] else ""]
    show_indented(out, " · ".join(filter(None, (one["id"], *parts))))
    for past in one.get("past", ()):
        before = f"until {moment(past['replaced_at'])}: {past['content']}"
        show_indented(out, line(before[:_SHOWN_CHARACTERS]))
    for relation in one.get("relations", ()):
        _show_relation(out, relation)
    for relation in one.get("incoming_relations", ()):
        _show_relation(out, relation)


def _show_head(out: Console, one: Json, head: Text) -> None:
    title = f"{one['title']}: " if one["title"] else ""
    head.append(f"{one['type']:<10} ")
    head.append_text(styled(f"{title}{one['content']}", "bold", max_length=_SHOWN_CHARACTERS))
    out.print(head, soft_wrap=True)


def _show_relation(out: Console, one: Json) -> None:
    arrow, other = ("→", "target_id") if "target_id" in one else ("←", "source_id")
    inferred = f"  inferred, {one['evidence']}" if one["inferred"] else ""
    shown = styled(
        f"{arrow} {one['relation_type']} {one[other]}  {one['strength']:.2f}{inferred}", QUIET
    )
    out.print(Text("    ").append_text(shown), soft_wrap=True)
