"""Markdown documents and their YAML front matter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import yaml

from services.agent_orchestrator.ingest.layout import BLOCK, ITEM, ROW, Break, Layout

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_LINE_END = re.compile(r"\r\n|\r|\n")
_RANKS = {"list_item_open": ITEM, "tr_open": ROW}
_CODE = frozenset({"fence", "code_block", "html_block"})


def read_markdown(text: str, body_start: int = 0) -> Layout:
    """Returns the breaks of Markdown from `body_start`, and its first heading as its title."""
    tokens = _parser().parse(text[body_start:])
    lines = [body_start, *(match.end() for match in _LINE_END.finditer(text, body_start))]
    breaks = sorted({*_breaks(tokens, lines)})
    return Layout(text, breaks, title=_title(tokens))


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


def _rank(token: Token) -> int:
    if token.type == "heading_open" and token.level == 0:
        return int(token.tag[1:])
    return _RANKS.get(token.type, BLOCK if token.level == 0 else ITEM)


def _title(tokens: Sequence[Token]) -> str:
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            return " ".join(tokens[place + 1].content.split())
    return ""


MAX_FRONT_MATTER = 64 * 1024
_START = re.compile(r"\A---[ \t]{0,100}\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]{0,100}(?:\r?\n|\Z)", re.MULTILINE)


class _Loader(yaml.SafeLoader):
    """Loads plain values without aliases: a few aliases can expand to billions of values."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError
        return super().compose_node(parent, index)


def read_front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Returns the front matter as JSON values (dates unchanged), and the offset of the body.

    Text that starts with a line of dashes but does not continue as a YAML mapping has no front matter.
    """
    opening = _START.match(text)
    if opening is None:
        return {}, 0
    closing = _END.search(text, opening.end(), opening.end() + MAX_FRONT_MATTER)
    if closing is None:
        return {}, 0
    try:
        # A SafeLoader, which creates only plain values.
        values = yaml.load(text[opening.end() : closing.start()], _Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, 0
    if not isinstance(values, dict):
        return {}, 0
    return {str(key): value for key, value in values.items()}, closing.end()


def as_json(value: Any, depth: int = 0) -> Any:
    """Converts a YAML value to JSON: dates and other types that JSON lacks become text. Nesting is cut at 40 levels."""
    if depth > 40:  # noqa: PLR2004 - deeper than metadata may be, which is checked there
        return None
    if isinstance(value, dict):
        return {str(key): as_json(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [as_json(inner, depth + 1) for inner in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)
