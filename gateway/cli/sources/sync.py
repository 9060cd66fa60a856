"""`braid sync`: keeps the documents of sources in step with what is in them.

Files are compared with what is stored, so the next run continues an interrupted one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli.errors import CliError, StillRunningError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.ingest.report import show_names, show_report
from gateway.cli.options import AsJson
from gateway.cli.output import show_pairs, show_removed
from gateway.cli.sources.approvals import Approvals
from gateway.cli.sources.options import (
    CredentialVariable,
    EveryMinutes,
    Exclude,
    History,
    Include,
    Kind,
    Name,
)
from gateway.cli.sources.running import Run
from gateway.cli.sources.spec import FOLDER, SourceSpec, Wanted, is_due, new_spec, refuse_password
from gateway.cli.terminal_escape import line
from services.runtime.user_folders import state_folder

if TYPE_CHECKING:
    from gateway.cli.session import Session

# With --watch, changes are collected until none has come for this long, and at most this long.
_QUIET_MS = 1_000
_MAX_WAIT_MS = 10_000
_IDLE_MS = 500
# How often schedules are looked at.
_LOOK_SECONDS = 15.0

Show = Callable[[Run, dict[str, Any]], None]


def sync(
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A folder, the address of a repository, site or feed, or the name of a source. Default: all sources.",
        ),
    ] = None,
    *,
    name: Name = None,
    kind: Kind = None,
    include: Include = None,
    exclude: Exclude = None,
    every_minutes: EveryMinutes = None,
    credential_variable: CredentialVariable = None,
    history: History = None,
    erase: Annotated[
        bool,
        typer.Option("--erase", help="Delete the documents whose files are gone, with their past."),
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Go on although more than a fifth of them is gone, or the source was another one.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what is new and what is gone; change nothing.")
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Go on whenever files change or a source is due, until Ctrl-C."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add what is new or changed in a source, and end the documents whose files are gone, or delete them."""
    session: Session = context.obj
    wanted = Wanted(name, kind, include, exclude, every_minutes, credential_variable, history)
    if what is None and wanted != Wanted():
        raise typer.BadParameter("options of a source need one", param_hint="SOURCE")
    how = partial(Run, erase=erase, force=force, dry_run=dry_run)
    show = partial(_show, session, as_json=as_json, several=watch or what is None)
    try:
        if what is None:
            failed = _all(session, how, show, watch=watch)
        else:
            failed = _one(session, _named(session, what, wanted, how), show, watch=watch)
    except KeyboardInterrupt:
        raise StillRunningError("what was accepted goes on; the next run does the rest") from None
    if failed:
        raise typer.Exit(ExitCode.PARTIAL)


def _named(session: Session, what: str, wanted: Wanted, how: Callable[..., Run]) -> Run:
    """Returns the run of what a user gives: the source of this name, or the one at this place."""
    refuse_password(what)
    folder = Path(what) if Path(what).is_dir() else None
    here = new_spec(what, wanted) if Path(what).exists() else None
    kept = _kept(session)
    approvals = _approvals(session)
    if here is None and what in kept:
        if wanted.name not in {None, what}:
            raise CliError("a source keeps its name", reason="INVALID_FIELD")
        approvals.require(kept[what])
        run = how(wanted.applied(kept[what]))
    else:
        run = how(here or new_spec(what, wanted), folder)
        if before := kept.get(run.spec.name):
            run = replace(run, spec=_agreed(run, before, wanted))
    if not run.dry_run:
        approvals.add(run.spec)
    if run.spec.paused:
        raise CliError(f"{run.spec.name} is paused: `braid sources resume {run.spec.name}`")
    return run


def _approvals(session: Session) -> Approvals:
    url = session.gateway.url if session.gateway is not None else ""
    return Approvals(state_folder(session.environment), url)


def _agreed(run: Run, before: SourceSpec, wanted: Wanted) -> SourceSpec:
    """Returns a source at a place that the user gives: what was set for it stays."""
    spec = run.spec
    if (before.kind, before.root) != (spec.kind, spec.root) and not run.force:
        raise CliError(
            f"{spec.name} is another source, {before.root}: give this one a --name, or --force takes its place"
        )
    return wanted.applied(replace(before, kind=spec.kind, root=spec.root))


def _kept(session: Session) -> dict[str, SourceSpec]:
    with session.api() as api:
        return {one["name"]: SourceSpec.of(one) for one in api.get("/api/sources")["sources"]}


def _one(session: Session, run: Run, show: Show, *, watch: bool) -> bool:
    """Brings a source in step, once or until the user stops it; returns whether files failed."""
    if not watch:
        return _run(session, run, show)
    if run.spec.kind == FOLDER:
        _watch_folder(session, run, show)
    elif run.spec.every_minutes is None:
        raise CliError(f"{run.spec.name} cannot be watched: give it a schedule, --every-minutes 60")
    with session.api(changes=True) as api:
        run.spec.put(api)
    return _watch_schedules(session, lambda spec: replace(run, spec=spec), show, {run.spec.name})


def _all(session: Session, how: Callable[..., Run], show: Show, *, watch: bool) -> bool:
    """Brings all sources in step that are not paused, or those whose schedule says so; returns whether one failed."""
    if watch:
        return _watch_schedules(session, how, show, None)
    specs = [spec for spec in _kept(session).values() if not spec.paused]
    if not specs:
        raise CliError("there are no sources: `braid sync FOLDER` or `braid sync ADDRESS` adds one")
    return sum(_tried(session, how(spec), show) for spec in specs) > 0


def _watch_schedules(
    session: Session, how: Callable[..., Run], show: Show, names: set[str] | None
) -> bool:
    """Runs each source when it is due, until the user stops it."""
    session.err.print("following the sources' schedules; Ctrl-C ends", markup=False)
    while True:
        for one in _sources_now(session):
            if is_due(one, datetime.now(UTC)) and (names is None or one["name"] in names):
                _tried(session, how(SourceSpec.of(one)), show)
        time.sleep(_LOOK_SECONDS)


def _sources_now(session: Session) -> list[dict[str, Any]]:
    """Returns the sources; none while the gateway cannot be reached, which is reported: it may be restarting."""
    try:
        with session.api() as api:
            found: list[dict[str, Any]] = api.get("/api/sources")["sources"]
    except CliError as error:
        session.complain(error)
        return []
    return found


def _watch_folder(session: Session, run: Run, show: Show) -> None:
    """Runs, and again whenever files have changed. A later run that fails is reported, and the next one tries again."""
    from watchfiles import watch  # noqa: PLC0415

    folder = run.folder or Path(run.spec.root)
    changes = watch(
        folder,
        debounce=_MAX_WAIT_MS,
        step=_QUIET_MS,
        rust_timeout=_IDLE_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    # From its first answer on, which may be empty, changes are collected: none is missed during a run.
    next(changes)
    _run(session, run, show)
    session.err.print(f"watching {line(str(folder))}; Ctrl-C ends", markup=False)
    for changed in changes:
        if changed:
            _tried(session, run, show)


def _tried(session: Session, run: Run, show: Show) -> bool:
    """Brings a source in step; reports why if that fails. Returns whether it or files of it failed."""
    try:
        _approvals(session).require(run.spec)
        return _run(session, run, show)
    except CliError as error:
        session.complain(CliError(f"{run.spec.name}: {error}"))
        return True


def _run(session: Session, run: Run, show: Show) -> bool:
    """Brings the documents in step, and shows what was done; returns whether files failed."""
    outcome = run.outcome(session)
    show(run, outcome)
    return not run.dry_run and bool(outcome["ingested"]["failures"])


def _became(*, erase: bool, dry_run: bool) -> str:
    """Returns what has become of the documents whose files are gone."""
    if dry_run:
        return "would be deleted" if erase else "would end (--erase: be deleted)"
    return "deleted" if erase else "ended; as of earlier times still found (--erase deletes)"


def _show(
    session: Session, run: Run, outcome: dict[str, Any], *, as_json: bool, several: bool
) -> None:
    """Shows the outcome of a run; as JSON, each of several runs is a line."""
    if as_json:
        (session.show_json_line if several else session.show_json)(outcome)
    else:
        if several:
            session.out.print(Text(line(run.spec.name), style="bold"))
        _show_words(session, outcome, _became(erase=run.erase, dry_run=run.dry_run))


def _show_words(session: Session, outcome: dict[str, Any], became: str) -> None:
    vanished = outcome["vanished"]
    counts = {name: len(outcome[name]) for name in ("new", "changed", "vanished")}
    # Not those that the service knew although they were sent: the report counts them as `unchanged`.
    show_pairs(session.out, {"unchanged files": outcome["unchanged"], **counts})
    if "ingested" in outcome:
        ingested = outcome["ingested"]
        nothing = not (ingested["documents"] or ingested["failures"] or ingested["skipped"])
        if not nothing or ingested["facts_added"] or ingested["facts_missing"]:
            show_report(session, ingested)
    if vanished:
        several = len(vanished) > 1
        which = (
            f"{len(vanished)} documents whose files are" if several else "1 document whose file is"
        )
        text = f"{which} gone: {became}"
        session.out.print(Text(line(text)), soft_wrap=True)
        show_names(session, vanished, len(vanished))
    if outcome.get("removed"):
        show_removed(session.out, outcome["removed"])
