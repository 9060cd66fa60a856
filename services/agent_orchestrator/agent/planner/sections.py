"""Where the lines of a passage stand: under which headings, and in which table."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from services.runtime.markup import is_heading, text_within_markup

_CELL_BORDER = "|"
_RULE = frozenset("|-: \t")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that begins at `start`, under `headings`, outermost first.

    `header` are the columns of a table's row. A heading, and a table's header with the rule below it, say nothing by
    themselves (`is_label`).
    """

    start: int
    headings: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    is_label: bool = False


def lines_of(passage: str) -> list[Line]:
    """Returns the lines of a passage in order. Headings are those of Markdown, as all formats are converted to it."""
    lines: list[Line] = []
    path: list[tuple[int, str]] = []
    header: tuple[str, ...] = ()
    start = 0
    texts = passage.splitlines(keepends=True)
    for text, following in zip(texts, [*texts[1:], ""], strict=True):
        headings = tuple(name for _, name in path)
        if is_heading(text):
            level = len(text.lstrip().partition(" ")[0])
            lines.append(Line(start, headings, is_label=True))
            path = [*(one for one in path if one[0] < level), (level, _plain(text))]
            header = ()
        elif _CELL_BORDER in text:
            begins_table = not header and _CELL_BORDER in following
            lines.append(Line(start, headings, header, begins_table or _is_rule(text)))
            header = header or _cells(text)
        else:
            lines.append(Line(start, headings))
            header = ()
        start += len(text)
    return lines


def line_at(lines: Sequence[Line], position: int) -> Line:
    """Returns the line of a position in the passage."""
    return lines[bisect_right(lines, position, key=lambda line: line.start) - 1]


def with_columns(row: str, header: Sequence[str]) -> str:
    """Returns a table's row with the name of the column before each cell."""
    cells = _cells(row)
    if len(cells) != len(header):
        return row
    return ", ".join(f"{name} {cell}" for name, cell in zip(header, cells, strict=True))


def _cells(row: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in row.strip().strip(_CELL_BORDER).split(_CELL_BORDER))


def _is_rule(line: str) -> bool:
    return "-" in line and set(line.strip()) <= _RULE


def _plain(line: str) -> str:
    text = line.strip()
    first, last = text_within_markup(text)
    return text[first:last]
