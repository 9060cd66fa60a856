"""`braid ingest`: adds documents and facts from files and folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gateway.cli import output
from gateway.cli.errors import CliError, StillRunningError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.options import AsJson
from gateway.cli.terminal_escape import line, styled
from gateway.content_types import CONTENT_TYPES

if TYPE_CHECKING:
    from gateway.cli.session import Session

# Facts that are named for each file.
_MAX_NAMED = 20


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(help=f"Files or folders: {' '.join(CONTENT_TYPES)}")
    ],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Withdraw the facts that a file stated when it was ingested before and states no longer.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add documents and facts. Facts are .jsonl lines with subject, relation, object; unchanged files are skipped."""
    from gateway.cli.ingest.files import find, without_site_names  # noqa: PLC0415
    from gateway.cli.ingest.ingestion import Ingest  # noqa: PLC0415
    from gateway.cli.progress import IngestProgress  # noqa: PLC0415

    session: Session = context.obj
    try:
        with session.api(changes=True) as api, IngestProgress(session.err) as bars:
            report = Ingest(api, bars, replace=replace).run(without_site_names(find(paths)))
    except KeyboardInterrupt:
        raise StillRunningError(
            "jobs that were accepted go on; `braid jobs list` shows them"
        ) from None
    if as_json:
        session.show_json(report.as_json())
    else:
        _show_report(session, report.as_json())
    if report.is_empty:
        session.complain(
            CliError(f"nothing to ingest: no file is one of {' '.join(CONTENT_TYPES)}")
        )
    if report.failures or report.is_empty:
        raise typer.Exit(ExitCode.PARTIAL)


def _show_report(session: Session, summary: dict[str, Any]) -> None:
    failures, missing = summary.pop("failures"), summary.pop("missing")
    warnings, skipped = summary.pop("warnings"), summary.pop("skipped")
    output.show_pairs(session.out, summary)
    for one in missing:
        _show_missing(session, one)
    if skipped:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(skipped.items()))
        session.warn(f"skipped files of unsupported types: {counts}")
    for warning in warnings:
        session.warn(f"{warning['path']}: {warning['reason']}")
    for problem in failures:
        session.complain(CliError(f"{problem['path']}: {problem['reason']}"))


def _show_missing(session: Session, missing: dict[str, Any]) -> None:
    """Names the facts that a file states no longer, and says what became of them."""
    total, withdrawn = missing["total"], missing["withdrawn"]
    facts = "1 fact" if total == 1 else f"{total} facts"
    if withdrawn == total:
        outcome = "withdrawn"
    elif withdrawn:
        outcome = f"{withdrawn} withdrawn, the others are also stated elsewhere"
    else:
        outcome = "they still stand (--replace withdraws what nothing else states)"
    text = f"{facts} no longer in {missing['path']}: {outcome}"
    session.out.print(Text(line(text)), soft_wrap=True)
    for fact in missing["facts"][:_MAX_NAMED]:
        session.out.print(Text("    ").append_text(styled(fact, output.QUIET)), soft_wrap=True)
    unnamed = total - min(len(missing["facts"]), _MAX_NAMED)
    if unnamed:
        session.out.print(f"    and {unnamed} more")
