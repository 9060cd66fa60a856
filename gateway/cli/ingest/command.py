"""`braid ingest`: adds documents and facts from files and folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.errors import CliError, StillRunningError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.ingest.report import show_report
from gateway.cli.options import AsJson, end_of
from gateway.content_types import SUPPORTED

if TYPE_CHECKING:
    from gateway.cli.session import Session


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help=f"Files or folders: {SUPPORTED}")],
    *,
    name: Annotated[
        str | None,
        typer.Option(help="Prefix of the ids of a folder's documents. Default: the folder's name."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Withdraw the facts that a file stated when it was ingested before and states no longer.",
        ),
    ] = False,
    expires: Annotated[
        str | None,
        typer.Option(
            help="Delete the documents automatically: after a span such as 90d, or on a day. Default: never."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add documents and facts; the ids of a folder's documents begin with its name. Unchanged files are skipped.

    Facts are .jsonl lines with subject, relation, object.
    """
    from gateway.cli.ingest.files import find, prefix_of, without_site_names  # noqa: PLC0415
    from gateway.cli.ingest.ingestion import Ingest  # noqa: PLC0415
    from gateway.cli.progress import IngestProgress  # noqa: PLC0415

    session: Session = context.obj
    end = end_of(expires, "expires")
    prefixes = {path: prefix_of(path, name) for path in paths if path.is_dir()}
    found = without_site_names(find(paths, prefixes=prefixes))
    try:
        with session.api(changes=True) as api, IngestProgress(session.err) as bars:
            expires_at = "" if end is None else end.isoformat()
            report = Ingest(api, bars, replace=replace, expires_at=expires_at).run(found)
    except KeyboardInterrupt:
        raise StillRunningError(
            "jobs that were accepted go on; `braid jobs list` shows them"
        ) from None
    if as_json:
        session.show_json(report.as_json())
    else:
        show_report(session, report.as_json())
    if report.is_empty:
        session.complain(CliError(f"nothing to ingest: no file is one of {SUPPORTED}"))
    if report.failures or report.is_empty:
        raise typer.Exit(ExitCode.PARTIAL)
