"""Markdown as it is written: its text untouched, its headings, lists, tables and code told by a CommonMark parser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from services.agent_orchestrator.ingest.layout import BLOCK, ITEM, ROW, Break, Layout

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LINE_END = re.compile(r"\r\n|\r|\n")
_RANKS = {"list_item_open": ITEM, "tr_open": ROW}
_CODE = frozenset({"fence", "code_block", "html_block"})


def read_markdown(text: str, body_start: int = 0) -> Layout:
    """The breaks of Markdown from `body_start` on, and its first heading as its title."""
    tokens = _parser().parse(text[body_start:])
    lines = [body_start, *(match.end() for match in _LINE_END.finditer(text, body_start))]
    breaks = sorted({*_breaks(tokens, lines)})
    return Layout(text, breaks, title=_title(tokens))


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - loaded where Markdown is read

    # What is inside of a block's lines is left as it is.
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


def _rank(token: Token) -> int:
    if token.type == "heading_open" and token.level == 0:
        return int(token.tag[1:])
    return _RANKS.get(token.type, BLOCK if token.level == 0 else ITEM)


def _title(tokens: Sequence[Token]) -> str:
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            return " ".join(tokens[place + 1].content.split())
    return ""
