"""Answers for people: what was found, why, since when, and where it stands."""

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
    """When a fact holds, when it happened, or when a document mentions it."""
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
    """How each leg ended, and how long it took."""
    legs_text = " · ".join(
        f"{leg['name']} {leg['status']}{' ' + leg['reason'] if leg['reason'] else ''} {leg['took_ms']:.1f} ms"
        for leg in legs
    )
    out.print(Text(f"\nLegs: {line(legs_text)}", style=QUIET), soft_wrap=True)


def show_table(out: Console, columns: dict[str, str], rows: list[Json]) -> None:
    """Rows as a table; `columns` maps headings to fields."""
    # In a narrow window too an id is of use only whole.
    shown = (Column(heading, overflow="fold") for heading in columns)
    table = Table(*shown, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in columns.values()))
    out.print(table)


def show_page(out: Console, columns: dict[str, str], rows: list[Json], cursor: str | None) -> None:
    """A page as a table, and how to see the next one."""
    if rows:
        show_table(out, columns, rows)
    else:
        out.print("Nothing on this page." if cursor else "Nothing to list.")
    if cursor:
        out.print(f"More: --cursor {cursor}", markup=False, soft_wrap=True)


def show_record(out: Console, record: Json) -> None:
    """An object's fields, one a line, its times with their ages."""
    now = datetime.now(UTC)
    show_pairs(
        out,
        {
            name: moment_and_age(value, now) if name.endswith("_at") else value
            for name, value in record.items()
        },
    )


def show_pairs(out: Console, pairs: Json) -> None:
    """Names and values, one a line."""
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
