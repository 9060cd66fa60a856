"""HTML as text: its visible blocks but the site's own, headings marked, white space as a browser shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from services.agent_orchestrator.ingest.decoding import decode
from services.agent_orchestrator.ingest.formats.boilerplate import boilerplate_of, is_permalink
from services.agent_orchestrator.ingest.formats.page_titles import page_title
from services.agent_orchestrator.ingest.layout import BLOCK, ITEM, ROW, Layout, Writer, clean

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Not shown, or not text.
_UNSEEN = frozenset(
    {
        "head",
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "canvas",
        "iframe",
        "object",
        "video",
        "audio",
    }
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ITEMS = frozenset({"li", "dt", "dd"})
# fmt: off
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "details", "div", "dl", "fieldset", "figcaption",
    "figure", "footer", "form", "header", "hr", "html", "legend", "main", "nav", "ol", "option", "p", "pre", "section",
    "summary", "table", "tbody", "textarea", "tfoot", "thead", "ul",
})
# fmt: on
_PARTS = _BLOCKS | _ITEMS | _HEADINGS.keys()
_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)
_SNIFFED = 4096
_SPACES = re.compile(r"[ \t\n\r\f\v]+")
# What is nested deeper is no document; a browser stops at 512.
_DEEPEST = 2000


def read_html(data: bytes, limit: int) -> Layout:
    """The text of a page. UnreadableError when it cannot be told which encoding it is in."""
    declared = _CHARSET.search(data, 0, _SNIFFED)
    return html_layout(decode(data, declared[1].decode() if declared else ""), limit)


def html_layout(html: str, limit: int) -> Layout:
    """The text of a page, and where its blocks begin; the title is its own, else its first heading."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - loaded where HTML is read

    parser = LexborHTMLParser(html)
    title = page_title(parser)
    layout = _read(parser, title, limit, boilerplate_of(parser))
    # A page of menus alone, as an index is, is about what they hold.
    return layout if layout.text else _read(parser, title, limit, is_permalink)


def _read(
    parser: LexborHTMLParser, title: str, limit: int, left_out: Callable[[LexborNode], bool]
) -> Layout:
    reader = _Reader(Writer(limit, title=title), left_out)
    if parser.root is not None:
        reader.read(parser.root)
    return reader.writer.layout()


class _Reader:
    """Walks a page's nodes in order and keeps the block that is being read."""

    def __init__(self, writer: Writer, left_out: Callable[[LexborNode], bool]) -> None:
        self.writer = writer
        self._left_out = left_out
        self._held: list[str] = []
        self._rank = BLOCK
        self._prefix = ""
        self._cells = 0
        self._verbatim = 0

    def read(self, root: LexborNode) -> None:
        """Reads everything below `root`."""
        for node, entering in _walk(root, self._left_out):
            if node.is_text_node:
                self._text(node.text_content or "")
            elif entering:
                self._enter(node.tag or "")
            else:
                self._leave(node.tag or "")
        self._end()

    def _text(self, text: str) -> None:
        self._held.append(text if self._verbatim else _SPACES.sub(" ", text))

    def _enter(self, tag: str) -> None:
        if tag == "br":
            self._held.append("\n")
        elif tag in {"td", "th"}:
            self._held.append(" | " if self._cells else "")
            self._cells += 1
        elif tag == "tr":
            self._begin(ROW, "")
        elif tag in _PARTS:
            self._enter_part(tag)
        self._verbatim += tag == "pre"

    def _enter_part(self, tag: str) -> None:
        if self._in_row(tag):
            self._held.append(" ")
        elif tag in _HEADINGS:
            self._begin(_HEADINGS[tag], "#" * _HEADINGS[tag] + " ")
        elif tag in _ITEMS:
            self._begin(ITEM, "- " if tag == "li" else "")
        elif not self._opens_item():
            self._begin(BLOCK, "")

    def _leave(self, tag: str) -> None:
        if tag == "tr" or (tag in _PARTS and not self._in_row(tag)):
            self._end()
        self._verbatim -= tag == "pre"

    def _in_row(self, tag: str) -> bool:
        """What a row's cells consist of stays on its line."""
        return self._rank == ROW and tag not in {"table", "tbody"}

    def _opens_item(self) -> bool:
        """A paragraph that an item begins with belongs to it."""
        return self._rank == ITEM and not "".join(self._held).strip()

    def _begin(self, rank: int, prefix: str) -> None:
        self._end()
        self._rank, self._prefix = rank, prefix

    def _end(self) -> None:
        text = clean("".join(self._held))
        text = text if self._verbatim else _lines(text)
        if text.strip():
            close = self._rank in {ITEM, ROW}
            self.writer.add(self._prefix + text, self._rank, close=close)
            if not self.writer.title and self._rank < BLOCK:
                self.writer.title = _SPACES.sub(" ", text)
        self._held.clear()
        self._rank, self._prefix, self._cells = BLOCK, "", 0


def _lines(text: str) -> str:
    return "\n".join(_SPACES.sub(" ", line).strip() for line in text.split("\n")).strip()


def _walk(
    root: LexborNode, left_out: Callable[[LexborNode], bool]
) -> Iterator[tuple[LexborNode, bool]]:
    """Each node on the way in, and each element on the way out: without recursion, however it is nested."""
    stack: list[LexborNode] = []
    node: LexborNode | None = root
    while node is not None or stack:
        if node is None:
            node = stack.pop()
            yield node, False
            node = node.next
        elif (
            node.is_element_node
            and node.tag not in _UNSEEN
            and len(stack) < _DEEPEST
            and not left_out(node)
        ):
            yield node, True
            stack.append(node)
            node = node.child
        else:
            if node.is_text_node:
                yield node, True
            node = node.next
