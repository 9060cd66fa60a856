"""`braid sync`: keeps the documents of a folder in step with its files.

A document's id is the folder's name and the file's path within it, so files with equal paths in two folders are two
documents. Files are compared by their content with what is stored, so the next run continues an interrupted one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli.documents import delete_and_wait
from gateway.cli.errors import CliError, StillRunningError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.ingest.files import prefix_of
from gateway.cli.ingest.report import show_names, show_report
from gateway.cli.options import AsJson
from gateway.cli.output import show_pairs, show_removed
from gateway.cli.terminal_escape import line
from gateway.file_fingerprints import FINGERPRINT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gateway.cli.api import Api
    from gateway.cli.session import Session

# Documents in a page of the list.
_PAGE = 200
# With --watch, changes are collected until none has come for this long, and at most this long.
_QUIET_MS = 1_000
_MAX_WAIT_MS = 10_000
_IDLE_MS = 500


def sync(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The folder.")],
    *,
    name: Annotated[
        str | None,
        typer.Option(help="Prefix of its documents' ids. Default: the folder's name."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out files that match this line of a .gitignore; such files in the folder count too. Repeatable."
        ),
    ] = None,
    erase: Annotated[
        bool,
        typer.Option("--erase", help="Delete the documents whose files are gone, with their past."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Go on although more than a fifth of them is gone.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what is new and what is gone; change nothing.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on whenever files change, until Ctrl-C.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add what is new or changed in a folder, and end the documents whose files are gone, or delete them."""
    session: Session = context.obj
    if not folder.is_dir():
        raise CliError(f"{folder} is not a folder")
    given = _Sync(
        folder=folder,
        prefix=prefix_of(folder, name),
        exclude=tuple(exclude or ()),
        erase=erase,
        force=force,
        dry_run=dry_run,
    )
    show = partial(_show, as_json=as_json, watched=watch)
    try:
        if watch:
            _watch(session, given, show)
        elif _run(session, given, show):
            raise typer.Exit(ExitCode.PARTIAL)
    except KeyboardInterrupt:
        raise StillRunningError("what was accepted goes on; the next run does the rest") from None


@dataclass(frozen=True, slots=True)
class _Sync:
    """What is kept in step, and how."""

    folder: Path
    prefix: str
    exclude: Sequence[str]
    erase: bool
    force: bool
    dry_run: bool


Show = Callable[["Session", _Sync, dict[str, Any]], None]


def _watch(session: Session, given: _Sync, show: Show) -> None:
    """Runs, and again whenever files have changed. A later run that fails is reported, and the next one tries again."""
    from watchfiles import watch  # noqa: PLC0415

    changes = watch(
        given.folder,
        debounce=_MAX_WAIT_MS,
        step=_QUIET_MS,
        rust_timeout=_IDLE_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    # From its first answer on, which may be empty, changes are collected: none is missed during a run.
    next(changes)
    _run(session, given, show)
    session.err.print(f"watching {line(str(given.folder))}; Ctrl-C ends", markup=False)
    for changed in changes:
        if changed:
            try:
                _run(session, given, show)
            except CliError as error:
                session.complain(error)


def _run(session: Session, given: _Sync, show: Show) -> bool:
    """Brings the documents in step, and shows what was done; returns whether files failed."""
    outcome = _outcome(session, given)
    show(session, given, outcome)
    return not given.dry_run and bool(outcome["ingested"]["failures"])


def _outcome(session: Session, given: _Sync) -> dict[str, Any]:
    from gateway.cli.ingest.folder_comparison import FolderComparison  # noqa: PLC0415
    from gateway.cli.ingest.ignore_rules import IgnoreRules  # noqa: PLC0415
    from gateway.cli.ingest.ingestion import Ingest  # noqa: PLC0415
    from gateway.cli.progress import IngestProgress  # noqa: PLC0415

    with session.api(changes=not given.dry_run) as api:
        stored = dict(_stored(api, given.prefix))
        rules = IgnoreRules(given.folder, given.exclude)
        compared = FolderComparison.of(given.prefix, given.folder, stored, rules)
        outcome: dict[str, Any] = {
            "prefix": given.prefix,
            "new": list(compared.new),
            "changed": list(compared.changed),
            "unchanged": compared.unchanged,
            "vanished": list(compared.vanished),
        }
        if not given.dry_run:
            compared.require_plausible(given.folder, force=given.force)
            with IngestProgress(session.err) as bars:
                report = Ingest(api, bars, replace=True).run(compared.files)
            outcome["ingested"] = report.as_json()
            outcome["removed"] = _remove(api, session, compared.vanished, erase=given.erase)
    return outcome


def _stored(api: Api, prefix: str) -> Iterator[tuple[str, str]]:
    """Yields the ids and fingerprints of a folder's stored documents. Those of JSON lines have ids of their own."""
    cursor: str | None = None
    while True:
        page = api.get("/api/documents", prefix=prefix, limit=_PAGE, cursor=cursor)
        for one in page["documents"]:
            if one["source"] == one["id"]:
                yield one["id"], str(one["metadata"].get(FINGERPRINT, ""))
        cursor = page["next_cursor"]
        if not cursor:
            return


def _remove(api: Api, session: Session, ids: Sequence[str], *, erase: bool) -> list[dict[str, Any]]:
    """Ends or deletes documents; returns what was removed of each store and kind."""
    removed: Counter[tuple[str, str]] = Counter()
    for one in ids:
        for rows in delete_and_wait(api, session, one, keep_versions=not erase)["removed"]:
            removed[rows["store"], rows["kind"]] += rows["count"]
    return [
        {"store": store, "kind": kind, "count": count} for (store, kind), count in removed.items()
    ]


def _became(*, erase: bool, dry_run: bool) -> str:
    """Returns what has become of the documents whose files are gone."""
    if dry_run:
        return "would be deleted" if erase else "would end (--erase: be deleted)"
    return "deleted" if erase else "ended; as of earlier times still found (--erase deletes)"


def _show(
    session: Session, given: _Sync, outcome: dict[str, Any], *, as_json: bool, watched: bool
) -> None:
    """Shows the outcome of a run; as JSON, each of several runs is a line."""
    if as_json:
        (session.show_json_line if watched else session.show_json)(outcome)
    else:
        _show_words(session, outcome, _became(erase=given.erase, dry_run=given.dry_run))


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
