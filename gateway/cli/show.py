"""Answers for people: what was found, why, since when, and where it stands."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.table import Column, Table
from rich.text import Text

from gateway.cli.safe import line, styled
from gateway.cli.when import moment_and_age

if TYPE_CHECKING:
    from rich.console import Console

EXCERPT = 240
QUIET = "dim"
Json = dict[str, Any]
# What `show_comprehensive` shows: nothing else is asked for.
SHOWN_PARTS = ("results", "graph_results", "legs")


def show_comprehensive(out: Console, answer: Json) -> None:
    """The fused list with its facts, the graph's facts, and the legs."""
    for number, result in enumerate(answer["results"], start=1):
        show_hit(out, number, result)
        for fact in result["facts"]:
            out.print(Text("      ").append_text(fact_line(fact)), soft_wrap=True)
    if not answer["results"]:
        out.print("Nothing was found.")
    if answer["graph_results"]:
        out.print(Text("\nFacts", style="bold"))
    for fact in answer["graph_results"]:
        show_fact(out, fact)
    show_legs(out, answer["legs"])


def show_chunks(out: Console, answer: Json) -> None:
    """Found chunks and the leg."""
    for number, hit in enumerate(answer["results"], start=1):
        show_hit(out, number, hit)
    _show_end(out, answer)


def show_facts(out: Console, answer: Json) -> None:
    """Found facts and the leg."""
    for fact in answer["results"]:
        show_fact(out, fact)
    _show_end(out, answer)


def show_hit(out: Console, number: int, hit: Json) -> None:
    """A chunk: score, title, document, the parts of its score, and its beginning."""
    head = Text(f"{number:>3}  {hit['score']:.4f}  ").append_text(styled(hit["title"], "bold"))
    where = hit["document_id"] or hit["source"]
    if where:
        head.append("  ").append_text(styled(where, QUIET))
    out.print(head, soft_wrap=True)
    parts = _parts(hit["scores"])
    if parts:
        out.print(Text(f"      {parts}", style=QUIET), soft_wrap=True)
    out.print(Text("      ").append_text(styled(hit["content"], most=EXCERPT)), soft_wrap=True)


def show_fact(out: Console, fact: Json) -> None:
    """A fact with its score, dates and citations."""
    out.print(Text(f"  {fact['score']:.4f}  ").append_text(fact_line(fact)), soft_wrap=True)


def fact_line(fact: Json) -> Text:
    """`statement  (when)  origin  ← document · source`."""
    told = styled(fact["fact"]).append_text(
        Text(f"  ({span(fact)})  {fact['origin']}", style=QUIET)
    )
    for source in fact["sources"][:3]:
        title = source["document_title"] or source["document_id"]
        where = source["source"] or source["document_id"]
        told.append("  ").append_text(styled(f"← {title} · {where}", QUIET))
    return told


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
    told = " · ".join(
        f"{leg['name']} {leg['status']}{' ' + leg['reason'] if leg['reason'] else ''} {leg['took_ms']:.1f} ms"
        for leg in legs
    )
    out.print(Text(f"\nLegs: {line(told)}", style=QUIET), soft_wrap=True)


def show_neighborhood(out: Console, answer: Json) -> None:
    """An entity, its neighbours' number, and the facts that join them."""
    center = answer["center"]
    head = styled(center["name"], "bold").append("  ").append_text(styled(center["type"], QUIET))
    out.print(head, soft_wrap=True)
    for edge in answer["edges"]:
        out.print(Text("  ").append_text(fact_line(edge)), soft_wrap=True)
    shown, total = len(answer["nodes"]), answer["total"]
    more = ", more with --limit" if answer["truncated"] else ""
    out.print(Text(f"{shown} of {total} neighbours{more}", style=QUIET))
    for other in answer["homonyms"]:
        out.print(styled(f"Also: {other['name']} ({other['type'] or 'no type'})", QUIET))


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


def _show_end(out: Console, answer: Json) -> None:
    if not answer["results"]:
        out.print("Nothing was found.")
    show_legs(out, answer["legs"])


def _parts(scores: Json) -> str:
    told = []
    for name, value in scores.items():
        if isinstance(value, dict):
            place = f"#{value['rank']} " if value["rank"] else ""
            told.append(f"{line(name)} {place}{value['score']:.4f}")
        elif isinstance(value, float):
            told.append(f"{line(name)} {value:.4f}")
    return " · ".join(told)
