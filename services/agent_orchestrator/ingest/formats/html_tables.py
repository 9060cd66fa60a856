"""Tables of pages whose rows need the names of their columns: long ones, and those with merged cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from services.agent_orchestrator.ingest.formats.tables import needs_names

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# Cells of a table with all those that merged ones cover; beyond, each cell counts once.
_MAX_CELLS = 200_000
_MAX_SPAN = 1_000
_CELLS = frozenset({"td", "th"})
# What makes a table the layout of a page, and not data.
_LAYOUT = "table, h1, h2, h3, h4, h5, h6, ul, ol, form"
_BREAKS = frozenset({"br", "p", "div"})


class PageTable(NamedTuple):
    """A table's caption and its rows; each cell that a merged one covers has its text."""

    caption: str
    rows: list[list[str]]


class _Cell(NamedTuple):
    text: str
    columns: int
    rows: int


def table_of(node: LexborNode, left_out: Callable[[LexborNode], bool]) -> PageTable | None:
    """Returns a table whose rows need the names of their columns; None for one that is read as it stands."""
    if _is_layout(node):
        return None
    rows = [
        [_cell(cell, left_out) for cell in row.iter() if cell.tag in _CELLS and not left_out(cell)]
        for row in node.css("tr")
    ]
    cells = [cell for row in rows for cell in row]
    merged = any(cell.columns > 1 or cell.rows > 1 for cell in cells)
    if not merged and not needs_names([[cell.text for cell in row] for row in rows]):
        return None
    if sum(cell.columns * cell.rows for cell in cells) > _MAX_CELLS:
        rows = [[cell._replace(columns=1, rows=1) for cell in row] for row in rows]
    caption = node.css_first("caption")
    return PageTable("" if caption is None else _text(caption, left_out), _grid(rows))


def _is_layout(table: LexborNode) -> bool:
    """Whether a table contains what makes it a layout; its own node matches too."""
    return any(found.mem_id != table.mem_id for found in table.css(_LAYOUT))


def _grid(rows: list[list[_Cell]]) -> list[list[str]]:
    """Places the cells in columns, beside cells of earlier rows that span this one."""
    grid: list[list[str]] = []
    width = max(sum(cell.columns for cell in row) for row in rows)
    above: dict[int, tuple[str, int]] = {}
    for row in rows:
        line: dict[int, str] = {column: text for column, (text, _) in above.items()}
        above = {column: (text, left - 1) for column, (text, left) in above.items() if left > 1}
        place = 0
        for cell in row:
            while place in line:
                place += 1
            # A text over the whole width is a heading of rows, and no value of each column.
            columns = 1 if cell.columns >= width > 1 else cell.columns
            for column in range(place, place + columns):
                line[column] = cell.text
                if cell.rows > 1:
                    above[column] = (cell.text, cell.rows - 1)
            place += cell.columns
        grid.append([line.get(column, "") for column in range(max(line, default=-1) + 1)])
    return grid


def _cell(node: LexborNode, left_out: Callable[[LexborNode], bool]) -> _Cell:
    return _Cell(_text(node, left_out), _span(node, "colspan"), _span(node, "rowspan"))


def _span(node: LexborNode, name: str) -> int:
    given = node.attributes.get(name) or ""
    return min(max(int(given), 1), _MAX_SPAN) if given.isascii() and given.isdecimal() else 1


def _text(node: LexborNode, left_out: Callable[[LexborNode], bool]) -> str:
    """Returns the text below a node as one line."""
    parts: list[str] = []
    waiting = list(node.iter(include_text=True))[::-1]
    while waiting:
        child = waiting.pop()
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif not left_out(child):
            if child.tag in _BREAKS:
                parts.append(" ")
            waiting += list(child.iter(include_text=True))[::-1]
    return " ".join("".join(parts).split())
