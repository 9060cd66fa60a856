"""Markdown: the parts that it is split into, and its first heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from services.agent_orchestrator.ingest.formats.tables import add_table, needs_names
from services.agent_orchestrator.ingest.layout import BLOCK, ITEM, ROW, Break, Layout, Writer

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_LINE_END = re.compile(r"\r\n|\r|\n")
_RANKS = {"list_item_open": ITEM, "tr_open": ROW}
_MAX_HEADING = 10_000
# Characters of one table with the names of its columns.
_MAX_TABLE = 50_000_000
_CODE = frozenset({"fence", "code_block", "html_block"})


def read_markdown(text: str, body_start: int = 0) -> Layout:
    """Returns the breaks of Markdown from `body_start`, and its first heading as its title."""
    tokens = _parser().parse(text[body_start:])
    lines = [body_start, *(match.end() for match in _LINE_END.finditer(text, body_start))]
    breaks = sorted({*_breaks(tokens, lines)})
    layout = Layout(text, breaks, title=_title(tokens))
    return _with_named_rows(layout, list(_long_tables(tokens, [*lines, len(text)])))


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - needed only to read Markdown

    # Inline markup within a block stays as it is.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def _breaks(tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[Break]:
    for token in tokens:
        if token.map is None or token.nesting < 0 or token.type == "inline":
            continue
        first, last = token.map
        if first < len(lines):
            yield Break(lines[first], _rank(token))
        if token.type in _CODE:
            yield from (Break(offset, ROW) for offset in lines[first + 1 : last])


class _Table(NamedTuple):
    """A table between two offsets of the text, with its cells as they are written."""

    start: int
    end: int
    rows: list[list[str]]


def _long_tables(tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[_Table]:
    """Yields the tables whose rows need the names of their columns, except those within lists and quotations."""
    for place, token in enumerate(tokens):
        if token.type != "table_open" or token.level or token.map is None:
            continue
        rows: list[list[str]] = []
        for inner in tokens[place:]:
            if inner.type == "tr_open":
                rows.append([])
            elif inner.type == "inline":
                rows[-1].append(inner.content)
            elif inner.type == "table_close":
                break
        if needs_names(rows):
            first, last = token.map
            yield _Table(lines[first], lines[min(last, len(lines) - 1)], rows)


def _with_named_rows(layout: Layout, tables: Sequence[_Table]) -> Layout:
    """Returns the text with the rows of these tables as lines that name their columns."""
    parts: list[str] = []
    breaks: list[Break] = []
    length = place = 0
    for table in (*tables, None):
        end = len(layout.text) if table is None else table.start
        breaks += (
            Break(one.offset - place + length, one.rank)
            for one in layout.breaks
            if place <= one.offset < end or (table is None and one.offset == end)
        )
        parts.append(layout.text[place:end])
        length += end - place
        if table is None:
            break
        writer = Writer(_MAX_TABLE)
        add_table(writer, table.rows)
        read = writer.layout()
        breaks += (Break(one.offset + length, one.rank) for one in read.breaks)
        parts.append(f"{read.text}\n")
        length += len(read.text) + 1
        place = table.end
    return replace(layout, text="".join(parts), breaks=breaks)


def _rank(token: Token) -> int:
    if token.type == "heading_open" and token.level == 0:
        return int(token.tag[1:])
    return _RANKS.get(token.type, BLOCK if token.level == 0 else ITEM)


def _title(tokens: Sequence[Token]) -> str:
    """Returns the first heading without its markup, which may be an HTML heading; "" without one."""
    pictured = ""
    opened = False
    for place, token in enumerate(tokens):
        if token.type == "html_block":
            text, opened = _html_heading(token.content)
        elif token.type == "inline" and (opened or _is_heading(tokens[place - 1])):
            text, opened = plain_text(token.content), False
            pictured = pictured or plain_text(token.content, pictures=True)
        else:
            continue
        if text:
            return text
    return pictured


def _is_heading(token: Token) -> bool:
    return token.type == "heading_open" and token.level == 0


def _html_heading(html: str) -> tuple[str, bool]:
    """Returns the text of the first heading in a block of HTML, and whether one is open at the end of the block."""
    if "<h" not in html.lower():
        return "", False
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - needed only to read Markdown with HTML

    found = LexborHTMLParser(html).css_first("h1, h2, h3, h4, h5, h6")
    if found is None:
        return "", False
    text = " ".join(found.text().split())
    return text, not text and "</h" not in html.lower()


def plain_text(markdown: str, *, pictures: bool = False) -> str:
    """Returns the words of inline Markdown: no marks, addresses or pictures; with `pictures`, their descriptions."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - needed only to read Markdown

    [inline] = MarkdownIt("commonmark").parseInline(markdown[:_MAX_HEADING])
    return " ".join("".join(_words(inline.children or (), pictures=pictures)).split())


def _words(tokens: Sequence[Token], *, pictures: bool) -> Iterator[str]:
    for token in tokens:
        if token.type in {"text", "code_inline"}:
            yield token.content
        elif token.type in {"softbreak", "hardbreak"}:
            yield " "
        elif token.type == "image" and pictures:
            yield token.content
