"""`braid sync`: keeps the documents of a folder in step with its files.

A document's id is the folder's name and the file's path within it, so files with equal paths in two folders are two
documents.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli.documents import delete_and_wait
from gateway.cli.errors import CliError, StillRunningError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.ingest.report import show_names, show_report
from gateway.cli.options import AsJson
from gateway.cli.output import show_pairs, show_removed
from gateway.cli.terminal_escape import line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gateway.cli.api import Api
    from gateway.cli.session import Session

# Documents in a page of the list.
_PAGE = 200


def sync(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The folder.")],
    *,
    name: Annotated[
        str | None,
        typer.Option(help="Prefix of its documents' ids. Default: the folder's name."),
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
    as_json: AsJson = False,
) -> None:
    """Add what is new or changed in a folder, and end the documents whose files are gone, or delete them."""
    from gateway.cli.ingest.folder_comparison import FolderComparison  # noqa: PLC0415
    from gateway.cli.ingest.ingestion import Ingest  # noqa: PLC0415
    from gateway.cli.progress import IngestProgress  # noqa: PLC0415

    session: Session = context.obj
    name = _name_of(folder, name)
    try:
        with session.api(changes=not dry_run) as api:
            compared = FolderComparison.of(name, folder, set(_stored_ids(api, name)))
            outcome: dict[str, Any] = {
                "name": name,
                "new": list(compared.new),
                "vanished": list(compared.vanished),
            }
            if not dry_run:
                compared.require_plausible(folder, force=force)
                with IngestProgress(session.err) as bars:
                    report = Ingest(api, bars, replace=True).run(compared.files)
                outcome["ingested"] = report.as_json()
                outcome["removed"] = _remove(api, session, compared.vanished, erase=erase)
    except KeyboardInterrupt:
        raise StillRunningError("what was accepted goes on; the next run does the rest") from None
    if as_json:
        session.show_json(outcome)
    else:
        _show(session, outcome, _became(erase=erase, dry_run=dry_run))
    if not dry_run and outcome["ingested"]["failures"]:
        raise typer.Exit(ExitCode.PARTIAL)


def _name_of(folder: Path, given: str | None) -> str:
    """Returns the prefix of the ids. Raises CliError if there is no folder, or the prefix is not one of it alone."""
    if not folder.is_dir():
        raise CliError(f"{folder} is not a folder")
    name = folder.resolve().name if given is None else given
    if not name.strip() or not name.isprintable() or "/" in name:
        # With a `/`, paths of two folders could be equal.
        message = "the folder needs a --name of printable characters without `/`"
        raise CliError(message, reason="INVALID_FIELD")
    return name


def _stored_ids(api: Api, name: str) -> Iterator[str]:
    """Yields the ids of the stored documents of a folder. Documents of JSON lines have ids of their own."""
    cursor: str | None = None
    while True:
        page = api.get("/api/documents", limit=_PAGE, cursor=cursor)
        for one in page["documents"]:
            if one["id"].startswith(f"{name}/") and one["source"] == one["id"]:
                yield one["id"]
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


def _show(session: Session, outcome: dict[str, Any], became: str) -> None:
    vanished = outcome["vanished"]
    if "ingested" in outcome:
        show_report(session, outcome["ingested"])
    else:
        show_pairs(session.out, {"new": len(outcome["new"]), "vanished": len(vanished)})
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
