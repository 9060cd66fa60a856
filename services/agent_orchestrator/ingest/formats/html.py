"""Web pages: their text without menus, banners and footers, and their title without the site's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from services.agent_orchestrator.ingest.formats.decoding import Decoded, codec_of, decode
from services.agent_orchestrator.ingest.formats.html_tables import table_of
from services.agent_orchestrator.ingest.formats.tables import add_table
from services.agent_orchestrator.ingest.formats.titles import stated_title
from services.agent_orchestrator.ingest.layout import BLOCK, ITEM, ROW, Layout, Writer, clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode


# Elements that are not displayed, or not text.
# fmt: off
_UNSEEN = frozenset({
    "head", "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "video", "audio",
})
# fmt: on
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
    rb"<meta[^>]{0,200}?charset\s{0,20}=\s{0,20}[\"']?\s{0,20}([A-Za-z0-9_.:-]{1,40})",
    re.IGNORECASE,
)
_XML = re.compile(
    rb"\s{0,100}<\?xml\s[^>]{0,200}?encoding\s{0,20}=\s{0,20}[\"']([A-Za-z0-9_.:-]{1,40})",
    re.IGNORECASE,
)
_SNIFFED = 4096
Decoder = Callable[[bytes, str], Decoded]
_SPACES = re.compile(r"[ \t\n\r\f\v]+")
# Elements nested deeper are skipped; browsers limit nesting to 512.
_DEEPEST = 2000


def read_html(data: bytes, limit: int) -> Layout:
    """Returns the text of a page. Raises UnreadableError if its encoding cannot be determined."""
    html = html_text(data)
    layout = html_layout(html.text, limit)
    return replace(layout, warnings=html.warnings)


def html_text(data: bytes, charset: str = "", decoder: Decoder = decode) -> Decoded:
    """Decodes a page: in the encoding `charset` that its sender declares, otherwise in the one of its own label."""
    declared = _CHARSET.search(data, 0, _SNIFFED) or _XML.match(data[:_SNIFFED])
    return decoder(data, charset if codec_of(charset) else declared[1].decode() if declared else "")


def html_layout(html: str, limit: int) -> Layout:
    """Returns the text of a page and where its blocks begin; the title is its own, otherwise its first heading."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - needed only to read HTML

    parser = LexborHTMLParser(html)
    title = stated_title(page_title(parser))
    layout = _read(parser, title, limit, boilerplate_of(parser))
    # A page that consists only of menus, such as an index, keeps their text.
    return layout if layout.text else _read(parser, title, limit, is_permalink)


def _read(
    parser: LexborHTMLParser, title: str, limit: int, left_out: Callable[[LexborNode], bool]
) -> Layout:
    reader = _Reader(Writer(limit, title=title), left_out)
    if parser.root is not None:
        reader.read(parser.root)
    return reader.writer.layout()


class _Reader:
    """Walks a page's nodes in order and collects the current block."""

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
        for node, entering in _walk(root, self._is_passed):
            if node.is_text_node:
                self._text(node.text_content or "")
            elif entering:
                self._enter(node.tag or "")
            else:
                self._leave(node.tag or "")
        self._end()

    def _is_passed(self, node: LexborNode) -> bool:
        """Whether the walk passes an element: what is left out, and a table that is added whole."""
        if self._left_out(node):
            return True
        table = table_of(node, self._left_out) if node.tag == "table" else None
        if table is None:
            return False
        self._end()
        add_table(self.writer, table.rows, table.caption)
        return True

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
        """Whether the element is inside a table row, whose cells stay on one line."""
        return self._rank == ROW and tag not in {"table", "tbody"}

    def _opens_item(self) -> bool:
        """Whether the current block is an empty list item: a paragraph that begins an item belongs to it."""
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
    """Yields each node on entry, and each element on exit as well. Iterative, so that deep nesting cannot overflow."""
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


_ROLES = frozenset({"navigation", "contentinfo", "search"})
_SECTIONS = frozenset({"article", "section", "main", "aside"})
_MAIN = "main, article, [role=main]"
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff"
# A link with no other text exists to be copied or to go back: ¶ after a heading, ↩ after a footnote.
_MARKS = frozenset({"", *"¶#§🔗⚓↩"})
_PERMALINK_CLASSES = frozenset(
    {
        "anchor",
        "anchor-link",
        "anchorjs-link",
        "hash-link",
        "header-anchor",
        "headerlink",
        "heading-anchor",
        "heading-link",
        "permalink",
    }
)
_PERMALINK_WORDS = frozenset({"permalink", "link", "anchor", "direct link", "link to this heading"})
_SKIP_LINK = re.compile(r"skip to (the )?(main )?(content|navigation|menu|search)", re.IGNORECASE)

Predicate = Callable[["LexborNode"], bool]


def boilerplate_of(parser: LexborHTMLParser) -> Predicate:
    """Returns a predicate that is true for elements to leave out together with their content.

    The page's header is left out, unless the page's main headings are all in such headers: then it is kept; if the page
    also marks its main text, only the headings of the headers are kept.
    """
    headings = parser.css("h1")
    banners = [_banner_of(heading) for heading in headings]
    own_heading = bool(headings) and None not in banners
    beside: set[int] = set()
    if own_heading and parser.css_first(_MAIN) is not None:
        beside = {node.mem_id for node in _around(headings)}

    def is_boilerplate(node: LexborNode) -> bool:
        tag, role = node.tag, _role(node)
        if tag == "a" and is_permalink(node):
            return True
        if tag == "nav" or role in _ROLES or _is_hidden(node) or node.mem_id in beside:
            return True
        if tag == "header" or role == "banner":
            return _is_of_page(node) and not (own_heading and node.css_first("h1") is not None)
        return tag == "footer" and _is_of_page(node)

    return is_boilerplate


def is_permalink(link: LexborNode) -> bool:
    """Whether an element is a link to copy a heading's address from, or to skip the menus."""
    attributes = link.attributes
    if link.tag != "a" or "#" not in (attributes.get("href") or ""):
        return False
    text = link.text()
    if "".join(text.split()).strip(_INVISIBLE) in _MARKS:
        return True
    text = text.strip()
    classes = (attributes.get("class") or "").split()
    if not _PERMALINK_CLASSES.isdisjoint(classes) and text.casefold() in _PERMALINK_WORDS:
        return True
    return _SKIP_LINK.fullmatch(text) is not None


def _around(headings: list[LexborNode]) -> Iterator[LexborNode]:
    """Yields the elements in the banners of headings, except those that contain a heading."""
    above = {id_ for heading in headings for id_ in _path(heading)}
    for heading in headings:
        node = heading.parent
        while node is not None:
            yield from (child for child in node.iter() if child.mem_id not in above)
            if node.tag == "header" or _role(node) == "banner":
                break
            node = node.parent


def _path(node: LexborNode | None) -> Iterator[int]:
    while node is not None:
        yield node.mem_id
        node = node.parent


def _banner_of(node: LexborNode) -> LexborNode | None:
    """Returns the page header that contains an element."""
    above = node.parent
    while above is not None and above.tag != "body":
        if above.tag == "header" or _role(above) == "banner":
            return above if _is_of_page(above) else None
        above = above.parent
    return None


def _is_of_page(node: LexborNode) -> bool:
    """Whether a header or footer belongs to the page, not to an article or a section in it."""
    above = node.parent
    while above is not None:
        if above.tag in _SECTIONS or _role(above) == "main":
            return False
        above = above.parent
    return True


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return "hidden" in attributes and attributes["hidden"] != "until-found"


def _role(node: LexborNode) -> str:
    return (node.attributes.get("role") or "").strip().lower()


_TITLE_SPACES = re.compile(r"\s+")
# Separators between a page's title and its site's name; a hyphen or colon within a name has no space before it.
_SEPARATOR = re.compile(r" (?:[-–—−|·•»«:/]|::) | ?[|»] ?")
# A longer title is not split: the title of a document is shorter.
_MAX_SPLIT = 2_000
_SITE_NAMES = (
    'meta[property="og:site_name"]',
    'meta[name="og:site_name"]',
    'meta[name="application-name"]',
    'meta[name="apple-mobile-web-app-title"]',
)
_OWN_TITLES = ('meta[property="og:title"]', 'meta[name="twitter:title"]')
_SITE_PARTS = (
    "header",
    "footer",
    "nav",
    "[role=navigation]",
    "[role=banner]",
    "[role=contentinfo]",
)
_NAMES = ", ".join(f"{part} {tag}" for part in _SITE_PARTS for tag in ("a", "span", "p", "div"))
_MAX_NAMES = 2_000
_MAX_NAME = 200
# The title of a site's first page is its site's name.
_FIRST_PAGES = frozenset({"home", "homepage", "index", "start", "welcome", "overview"})
_HEADING_MARKS = "¶#§🔗 \u200b"


def page_title(parser: LexborHTMLParser) -> str:
    """Returns the page's title; "" if it has none.

    A site's name is removed if the page declares it; or if the rest is the page's main heading, and the name by itself
    is a link or a label in its menus, its banner or its footer.
    """
    found = parser.css_first("head > title")
    title = _plain(found.text()) if found is not None else ""
    marks = _marks(title) if len(title) <= _MAX_SPLIT else []
    if not marks:
        return title
    site = {_plain(name).casefold() for name in _contents(parser, _SITE_NAMES)} - {""}
    own = {_plain(name).casefold() for name in _contents(parser, _OWN_TITLES)}
    own |= {_plain(one.text()).rstrip(_HEADING_MARKS).casefold() for one in parser.css("h1")[:3]}
    around: set[str] = set()
    for kept, rest in _parts(title, marks):
        if kept.casefold() in _FIRST_PAGES:
            continue
        if rest.casefold() in site:
            return kept
        if kept.casefold() in own:
            around = around or site | _names(parser)
            if {rest.casefold()} <= around or {
                *map(str.casefold, _SEPARATOR.split(rest))
            } <= around:
                return kept
    return title


def _marks(title: str) -> list[re.Match[str]]:
    found = _SEPARATOR.finditer(title)
    return [mark for mark in found if mark.start() and mark.end() < len(title)]


def _parts(title: str, marks: list[re.Match[str]]) -> Iterator[tuple[str, str]]:
    """Yields each way to split a title into the kept part and the rest: ends first, the shortest rest first."""
    for mark in reversed(marks):
        yield title[: mark.start()], title[mark.end() :]
    for mark in marks:
        yield title[mark.end() :], title[: mark.start()]


def _contents(parser: LexborHTMLParser, selectors: tuple[str, ...]) -> Iterator[str]:
    for selector in selectors:
        for found in parser.css(selector):
            yield found.attributes.get("content") or ""


def _names(parser: LexborHTMLParser) -> set[str]:
    """Returns the separate texts in the page's menus, banner and footer."""
    texts = (_plain(found.text()) for found in parser.css(_NAMES)[:_MAX_NAMES])
    return {text.casefold() for text in texts if 0 < len(text) <= _MAX_NAME}


def _plain(text: str) -> str:
    return _TITLE_SPACES.sub(" ", text).strip()
