"""Parts of a web page that are about its site, not about its subject: menus, banners, footers, marks of links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_ROLES = frozenset({"navigation", "contentinfo", "search"})
_SECTIONS = frozenset({"article", "section", "main", "aside"})
_MAIN = "main, article, [role=main]"
_UNSEEN = "\\s\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff"
# A link that shows nothing else is there to be copied: ¶ after a heading, ↩ after a footnote.
_MARK = re.compile(rf"[{_UNSEEN}]*[¶#§🔗⚓↩]?[{_UNSEEN}]*")
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
    """Tells of an element whether it is left out, with all that it holds.

    A page's header goes, unless it holds the page's only main heading: then it stays where nothing marks the text, and
    the heading alone stays where something does.
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
    """Whether an element is a link that is a mark to copy its address from, or a way past the menus."""
    attributes = link.attributes
    if link.tag != "a" or "#" not in (attributes.get("href") or ""):
        return False
    text = link.text()
    if _MARK.fullmatch(text):
        return True
    text = text.strip()
    classes = (attributes.get("class") or "").split()
    if not _PERMALINK_CLASSES.isdisjoint(classes) and text.casefold() in _PERMALINK_WORDS:
        return True
    return _SKIP_LINK.fullmatch(text) is not None


def _around(headings: list[LexborNode]) -> Iterator[LexborNode]:
    """What is in the banners of headings, but what holds one."""
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
    """The page's header that an element is in."""
    above = node.parent
    while above is not None and above.tag != "body":
        if above.tag == "header" or _role(above) == "banner":
            return above if _is_of_page(above) else None
        above = above.parent
    return None


def _is_of_page(node: LexborNode) -> bool:
    """Whether a header or footer is the page's, and not that of an article or a section in it."""
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
