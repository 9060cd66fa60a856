"""Text output of answers: facts, legs, tables and records."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.table import Column, Table
from rich.text import Text

from gateway.cli.terminal_escape import line, styled
from gateway.cli.times import moment_and_age

if TYPE_CHECKING:
    from rich.console import Console


QUIET = "dim"
_GAP = 2  # between two columns
_READABLE = 12
Json = dict[str, Any]


def fact_line(fact: Json) -> Text:
    """`statement  (when)  origin  ← document · source`."""
    text = styled(fact["fact"]).append_text(
        Text(f"  ({span(fact)})  {fact['origin']}", style=QUIET)
    )
    for source in fact["sources"][:3]:
        title = source["document_title"] or source["document_id"]
        where = source["source"] or source["document_id"]
        text.append("  ").append_text(styled(f"← {title} · {where}", QUIET))
    return text


def span(fact: Json) -> str:
    """Returns when a fact holds, when it happened, or when a document mentions it."""
    start, end, mentioned = (
        line((fact[name] or "")[:10]) for name in ("valid_at", "invalid_at", "mentioned_at")
    )
    if fact["origin"] == "local":
        return f"mentioned {mentioned}".strip()
    if fact["event"] and start:
        return f"on {start}"
    if not start and not end:
        return "undated"
    return f"{start or '…'} → {end or 'now'}"


def show_legs(out: Console, legs: list[Json]) -> None:
    """Shows how each leg ended, and its duration."""
    legs_text = " · ".join(
        f"{leg['name']} {leg['status']}{' ' + leg['reason'] if leg['reason'] else ''} {leg['took_ms']:.1f} ms"
        for leg in legs
    )
    out.print(Text(f"\nLegs: {line(legs_text)}", style=QUIET), soft_wrap=True)


def show_table(out: Console, columns: dict[str, str], rows: list[Json]) -> None:
    """Shows rows as a table that fits the terminal, or one below the other; `columns` maps headings to fields."""
    cells = [[_cell(row[name]) for name in columns.values()] for row in rows]
    shown = [
        _column(heading, [row[place] for row in cells]) for place, heading in enumerate(columns)
    ]
    if _GAP * (len(shown) - 1) + sum(column.min_width or 0 for column in shown) > out.width:
        _show_records(out, list(columns), cells)
        return
    table = Table(*shown, box=None, pad_edge=False, header_style="bold")
    for row in cells:
        table.add_row(*row)
    out.print(table)


def _column(heading: str, cells: list[Text]) -> Column:
    """Returns a column; ids and numbers are never wrapped, text is wrapped at `_READABLE` characters or more."""
    width = max((cell.cell_len for cell in (Text(heading), *cells)), default=0)
    unbroken = not any(" " in cell.plain for cell in cells)
    return Column(
        heading,
        overflow="fold",
        no_wrap=unbroken,
        min_width=width if unbroken else min(width, _READABLE),
    )


def _show_records(out: Console, headings: list[str], rows: list[list[Text]]) -> None:
    """Shows rows one below the other, one field per line, for a terminal that is too narrow for a table."""
    for number, row in enumerate(rows):
        if number:
            out.print()
        for heading, cell in zip(headings, row, strict=True):
            if cell.plain:
                label = Text(f"{heading}: " if heading else "", style="bold")
                out.print(label.append_text(cell), overflow="fold")


def show_page(out: Console, columns: dict[str, str], rows: list[Json], cursor: str | None) -> None:
    """Shows a page as a table, and how to request the next one."""
    if rows:
        show_table(out, columns, rows)
    else:
        out.print("Nothing on this page." if cursor else "Nothing to list.")
    if cursor:
        out.print(f"More: --cursor {cursor}", markup=False, soft_wrap=True)


def show_record(out: Console, record: Json) -> None:
    """Shows an object's fields, one per line, times with their ages."""
    now = datetime.now(UTC)
    show_pairs(
        out,
        {
            name: moment_and_age(value, now) if name.endswith("_at") else value
            for name, value in record.items()
        },
    )


def show_removed(out: Console, removed: list[Json]) -> None:
    """Shows what a deletion has removed of each store and kind."""
    show_table(out, {"store": "store", "removed": "kind", "count": "count"}, removed)


def show_pairs(out: Console, pairs: Json) -> None:
    """Shows names and values, one pair per line."""
    for name, value in pairs.items():
        out.print(Text(f"{name}: ").append_text(_cell(value)), soft_wrap=True)


def _cell(value: Any) -> Text:
    if value is None or value in ([], {}):
        return Text("")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, float):
        return Text(f"{value:.4g}")
    if isinstance(value, dict | list):
        return styled(json.dumps(value, ensure_ascii=False))
    return styled(str(value))
