"""`braid sources`: list, get, pause, resume and forget the sources that `braid sync` keeps in step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli import output
from gateway.cli.api import segment
from gateway.cli.options import AsJson
from gateway.cli.sources.spec import SourceSpec
from gateway.cli.times import moment

if TYPE_CHECKING:
    from gateway.cli.session import Session

SourceName = Annotated[
    str, typer.Argument(metavar="SOURCE", help="Its name, as `braid sources list` shows it.")
]
_COUNTS = ("added", "changed", "unchanged", "removed", "failed")
sources = typer.Typer(
    help="List, show, pause, resume and forget the sources that `braid sync` keeps in step.",
    no_args_is_help=True,
)


@sources.command("list")
def list_sources(context: typer.Context, as_json: AsJson = False) -> None:
    """List all sources, each with how its last run ended."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get("/api/sources")
    if as_json:
        session.show_json(answer)
        return
    columns = {"name": "name", "kind": "kind", "root": "root", "last run": "ran", "state": "state"}
    rows = [one | {"ran": _ran(one), "state": _state(one)} for one in answer["sources"]]
    output.show_table(session.out, columns, rows)


@sources.command("get")
def get_source(context: typer.Context, name: SourceName, as_json: AsJson = False) -> None:
    """Show a source, and how its last run ended."""
    session: Session = context.obj
    with session.api() as api:
        answer = api.get(f"/api/sources/{segment(name)}")
    _show(session, answer, as_json=as_json)


@sources.command()
def pause(context: typer.Context, name: SourceName, as_json: AsJson = False) -> None:
    """Leave a source out until it is resumed."""
    _set_paused(context.obj, name, paused=True, as_json=as_json)


@sources.command()
def resume(context: typer.Context, name: SourceName, as_json: AsJson = False) -> None:
    """Let a source be kept in step again."""
    _set_paused(context.obj, name, paused=False, as_json=as_json)


@sources.command()
def delete(context: typer.Context, name: SourceName, as_json: AsJson = False) -> None:
    """Forget a source. Its documents stay."""
    session: Session = context.obj
    with session.api(changes=True) as api:
        answer = api.delete(f"/api/sources/{segment(name)}")
    _show(session, answer, as_json=as_json)


def _set_paused(session: Session, name: str, *, paused: bool, as_json: bool) -> None:
    with session.api(changes=True) as api:
        spec = SourceSpec.of(api.get(f"/api/sources/{segment(name)}"))
        answer = replace(spec, paused=paused).put(api)
    _show(session, answer, as_json=as_json)


def _show(session: Session, source: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        session.show_json(source)
        return
    run = source["last_run"]
    output.show_pairs(session.out, {name: source[name] for name in source if name != "last_run"})
    if run is None:
        session.out.print("it has not run yet")
        return
    output.show_pairs(
        session.out, {"last run": _ran(source), **{name: run[name] for name in _COUNTS}}
    )
    for kind, count in sorted(run["skipped"].items()):
        session.warn(f"skipped files of an unsupported type: {count} {kind}")
    for failure in [*run["failures"], *filter(None, [run["error"]])]:
        session.warn(failure)


def _ran(source: dict[str, Any]) -> str:
    return moment(source["last_run"]["ended_at"]) if source["last_run"] else ""


def _state(source: dict[str, Any]) -> str:
    if source["paused"]:
        return "paused"
    run = source["last_run"]
    if run is None:
        return "not run yet"
    if run["error"]:
        return "failed"
    return f"{run['failed']} files failed" if run["failed"] else "in step"
