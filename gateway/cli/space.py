"""`braid space`: list spaces; create, count, limit, compare, repair, export, import, migrate and delete the key's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli import output
from gateway.cli.exit_codes import ExitCode
from gateway.cli.job_progress import wait_for_end
from gateway.cli.job_status import require_success
from gateway.cli.options import AsJson, Cursor, Limit, print_page
from gateway.cli.quarantine import quarantine
from gateway.cli.space_archive.commands import export, import_, verify
from gateway.cli.times import moment

if TYPE_CHECKING:
    from rich.console import Console

    from gateway.cli.session import Session


space = typer.Typer(
    help="List spaces; create, count, limit, export, import, check, repair and delete the one of the key.",
    no_args_is_help=True,
)
space.add_typer(quarantine, name="quarantine")
space.command("export")(export)
space.command("import")(import_)
space.command("verify")(verify)
Title = Annotated[str | None, typer.Option(help="What to call the space.")]
ConversationDays = Annotated[
    int | None, typer.Option(help="Delete conversations so many days after their last message.")
]
MemoryDays = Annotated[
    int | None, typer.Option(help="Delete memories that were not used for so many days.")
]
UploadBytesPerDay = Annotated[
    int | None, typer.Option(help="Take so many bytes of uploads in a day (UTC).")
]
MaxDocuments = Annotated[int | None, typer.Option(help="Contain so many documents at most.")]
Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Show the job's progress until it ends.")
]


@space.command()
def usage(context: typer.Context, as_json: AsJson = False) -> None:
    """Count what the space contains in each store, and its unfinished work."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/space")
    if as_json:
        session.show_json(answer)
        return
    work = ("space", "jobs_unfinished", "documents_dead")
    output.show_pairs(session.out, {name: answer[name] for name in work})
    columns = {"store": "store", "stored": "kind", "count": "count"}
    output.show_table(session.out, columns, answer["stored"])


@space.command("list")
def list_spaces(
    context: typer.Context, limit: Limit = None, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List the spaces of the installation. Needs a key with the scope `operator`."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/spaces", limit=limit, cursor=cursor)
    if not as_json:
        for one in answer["spaces"]:
            one["created"] = moment(one["created_at"])
    columns = {name: name for name in ("id", "title", "created")}
    print_page(session, answer, "spaces", columns, as_json)


@space.command()
def create(
    context: typer.Context,
    *,
    title: Title = None,
    conversation_days: ConversationDays = None,
    memory_days: MemoryDays = None,
    upload_bytes_per_day: UploadBytesPerDay = None,
    max_documents: MaxDocuments = None,
    as_json: AsJson = False,
) -> None:
    """Create the space of the key, with a title and limits, before anything is stored in it."""
    session: Session = context.obj
    wanted = _chosen(
        title=title,
        conversation_days=conversation_days,
        memory_days=memory_days,
        upload_bytes_per_day=upload_bytes_per_day,
        max_documents=max_documents,
    )
    with session.api(changes=True) as api:
        answer = api.post("/api/space", wanted)
    if as_json:
        session.show_json(answer)
    else:
        _show_settings(session.out, {"space": answer["space"]["id"], **answer})


@space.command()
def settings(
    context: typer.Context,
    *,
    title: Title = None,
    conversation_days: ConversationDays = None,
    memory_days: MemoryDays = None,
    upload_bytes_per_day: UploadBytesPerDay = None,
    max_documents: MaxDocuments = None,
    as_json: AsJson = False,
) -> None:
    """Show how long the space keeps what, and how much it takes; with options, change these. 0 removes a limit."""
    session: Session = context.obj
    chosen = _chosen(
        title=title,
        conversation_days=conversation_days,
        memory_days=memory_days,
        upload_bytes_per_day=upload_bytes_per_day,
        max_documents=max_documents,
    )
    with session.api(changes=bool(chosen)) as api:
        answer = api.get("/api/space/settings")
        if chosen:
            wanted = {name: value for name, value in {**answer, **chosen}.items() if value}
            answer = api.put("/api/space/settings", wanted)
    if as_json:
        session.show_json(answer)
    else:
        _show_settings(session.out, answer)


@space.command()
def delete(
    context: typer.Context,
    space_id: Annotated[
        str, typer.Argument(metavar="SPACE", help="The space's id, as a confirmation.")
    ],
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Delete everything that the space contains, in every store, and show what was removed.

    Documents, facts with their history, memories and conversations of all users: nothing of it can be restored.
    """
    session: Session = context.obj
    with session.api(changes=True) as api:
        job = api.delete("/api/space", confirm=space_id)["job"]
        if wait:
            job = wait_for_end(api, session, job)
    if as_json:
        session.show_json({"job": job})
    elif job["removed"]:
        output.show_removed(session.out, job["removed"])
    else:
        output.show_pairs(session.out, {name: job[name] for name in ("id", "kind", "state")})
    require_success(job)


@space.command()
def check(
    context: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Show what a repair would do with each inconsistency.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="With --repair: do it.")] = False,
    limit: Annotated[int | None, typer.Option(help="How many of a kind are listed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare all stores, and repair them if asked to. Exit code 1 when they are inconsistent.

    A repair deletes nothing that somebody stated: see `braid space quarantine`.
    """
    if apply and not repair:
        raise typer.BadParameter("needs --repair", param_hint="--apply")
    session: Session = context.obj
    with session.api(changes=apply) as api:
        if repair:
            answer = api.post("/api/consistency", None, apply=apply, limit=limit)
        else:
            answer = api.get("/api/consistency", limit=limit)
    if as_json:
        session.show_json(answer)
    else:
        _show_report(session.out, answer, repair=repair, apply=apply)
    if not answer["consistent"]:
        raise typer.Exit(ExitCode.FAILED)


@space.command()
def reembed(
    context: typer.Context,
    keep_former: Annotated[
        bool, typer.Option("--keep-former", help="Keep the former model's vectors.")
    ] = False,
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Move to the configured embedding model. The space serves meanwhile."""
    _start(context.obj, "/api/reembed", {"keep_former": keep_former}, wait=wait, as_json=as_json)


@space.command()
def reextract(
    context: typer.Context,
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Read every chunk into the graph again. A language model added later reads it then."""
    _start(context.obj, "/api/reextract", None, wait=wait, as_json=as_json)


def _start(session: Session, path: str, body: Any, *, wait: bool, as_json: bool) -> None:
    with session.api(changes=True) as api:
        job = api.post(path, body)["job"]
        if wait:
            job = wait_for_end(api, session, job)
    if as_json:
        session.show_json({"job": job})
    else:
        shown = ("id", "kind", "state", "documents_total", "documents_searchable")
        output.show_pairs(session.out, {name: job[name] for name in shown})
    require_success(job)


def _show_report(out: Console, answer: dict[str, Any], *, repair: bool, apply: bool) -> None:
    looked = ("chunks", "episodes", "graph_documents", "entities", "facts", "findings", "memories")
    output.show_pairs(out, {name: answer[name] for name in (*looked, "pending")})
    action = {"repair": "action"} if repair else {}
    if answer["counts"]:
        columns = {"inconsistency": "kind", "found": "found", "repaired": "repaired"} | action
        output.show_table(out, columns, answer["counts"])
    if answer["listed"]:
        columns = {"inconsistency": "kind", "id": "id", "document": "document_id"} | action
        output.show_table(out, columns, answer["listed"])
    if answer["quarantine_id"]:
        out.print(f"quarantine: {answer['quarantine_id']} (braid space quarantine show)")
    if repair and answer["counts"] and not apply:
        out.print("nothing was changed: add --apply to repair")
    out.print("consistent" if answer["consistent"] else "not consistent")


def _chosen(**given: str | int | None) -> dict[str, str | int]:
    """Returns the settings that are given."""
    return {name: value for name, value in given.items() if value is not None}


def _show_settings(out: Console, settings: dict[str, Any]) -> None:
    limits = ("conversation_days", "memory_days", "upload_bytes_per_day", "max_documents")
    named = {name: settings[name] for name in ("space", "title") if settings.get(name)}
    output.show_pairs(out, named | {name: settings[name] or "no limit" for name in limits})
