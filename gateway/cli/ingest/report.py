"""Shows the result of an ingestion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from gateway.cli import output
from gateway.cli.errors import CliError
from gateway.cli.terminal_escape import line, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.cli.session import Session

# Names in a list of facts or documents.
_MAX_NAMED = 20


def show_report(session: Session, summary: dict[str, Any]) -> None:
    """Prints the counts, then what was not taken and why."""
    lists = {"failures", "missing", "warnings", "skipped"}
    output.show_pairs(
        session.out, {name: value for name, value in summary.items() if name not in lists}
    )
    for one in summary["missing"]:
        _show_missing(session, one)
    if skipped := summary["skipped"]:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(skipped.items()))
        session.warn(f"skipped files of unsupported types: {counts}")
    for warning in summary["warnings"]:
        session.warn(f"{warning['path']}: {warning['reason']}")
    for problem in summary["failures"]:
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
    show_names(session, missing["facts"], total)


def show_names(session: Session, names: Sequence[str], total: int) -> None:
    """Prints the first of some names, one per line, and how many of `total` are not printed."""
    for name in names[:_MAX_NAMED]:
        session.out.print(Text("    ").append_text(styled(name, output.QUIET)), soft_wrap=True)
    unnamed = total - min(len(names), _MAX_NAMED)
    if unnamed:
        session.out.print(f"    and {unnamed} more")
