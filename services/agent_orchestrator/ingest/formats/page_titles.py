"""The title of a web page without the site's name, where the page itself tells which part of it that is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser

_SPACES = re.compile(r"\s+")
# What is between a page's title and its site's name; a hyphen or colon within a name has no space before it.
_SEPARATOR = re.compile(r"\s+(?:[-–—−|·•»«:/]|::)\s+|\s*[|»]\s*")
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
_HEADING_MARK = re.compile(r"[¶#§🔗\s\u200b]+$")


def page_title(parser: LexborHTMLParser) -> str:
    """The page's title; "" when it has none.

    A site's name is left out when the page declares it; or when the rest is what the page calls itself (its main
    heading), and the name alone is a link or a label in its menus, its banner or its footer.
    """
    found = parser.css_first("head > title")
    title = _plain(found.text()) if found is not None else ""
    marks = _marks(title)
    if not marks:
        return title
    site = {_plain(name).casefold() for name in _contents(parser, _SITE_NAMES)} - {""}
    own = {_plain(name).casefold() for name in _contents(parser, _OWN_TITLES)}
    own |= {_HEADING_MARK.sub("", _plain(one.text())).casefold() for one in parser.css("h1")[:3]}
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
    """Each way to part a title in what is kept and the rest: the ends first, the shortest rest first."""
    for mark in reversed(marks):
        yield title[: mark.start()], title[mark.end() :]
    for mark in marks:
        yield title[mark.end() :], title[: mark.start()]


def _contents(parser: LexborHTMLParser, selectors: tuple[str, ...]) -> Iterator[str]:
    for selector in selectors:
        for found in parser.css(selector):
            yield found.attributes.get("content") or ""


def _names(parser: LexborHTMLParser) -> set[str]:
    """What stands for itself in the page's menus, banner and footer."""
    texts = (_plain(found.text()) for found in parser.css(_NAMES)[:_MAX_NAMES])
    return {text.casefold() for text in texts if 0 < len(text) <= _MAX_NAME}


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
