"""Titles of web pages without the name of their site, where many pages of a folder end with it."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.cli.sources import Problem, Source
from gateway.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_HTML = "text/html"
# Fewer pages with one ending may be a series of their own.
_MIN_PAGES = 3
_HEAD_BYTES = 64 * 1024
_MAX_NEIGHBOURS = 200
_BEGIN = re.compile(r"<(title|body)\b[^>]*>", re.IGNORECASE)
_END = re.compile(r"</title", re.IGNORECASE)
_ENDING = re.compile(r"(?:\s+[-–—−|·•»:]|\s*[|»]|\s+::)\s+(?:(?!\s[-–—−|·•»:]|[|»]).)+$", re.DOTALL)


def without_site_names(found: Iterable[Source | Problem]) -> Iterator[Source | Problem]:
    """The same, with a title for each page whose own ends like those of at least two others and, with it, half of all.

    Pages beside a single one that is named count as well: it has the same title whichever way it is ingested.
    """
    items = list(found)
    titles = {
        item.path: title
        for item in items
        if isinstance(item, Source) and item.kind == _HTML and (title := _title(item.path))
    }
    site_names = _shared_endings([*titles.values(), *_titles_beside(titles)])
    for item in items:
        title = titles.get(item.path, "") if isinstance(item, Source) else ""
        ending = _ending(title)
        if isinstance(item, Source) and ending in site_names:
            yield replace(item, title=title.removesuffix(ending))
        else:
            yield item


def _shared_endings(titles: list[str]) -> set[str]:
    beginnings: defaultdict[str, set[str]] = defaultdict(set)
    for title in titles:
        if ending := _ending(title):
            beginnings[ending].add(title)
    return {
        ending
        for ending, those in beginnings.items()
        if len(those) >= _MIN_PAGES and 2 * len(those) >= len(set(titles))
    }


def _ending(title: str) -> str:
    """The last part of a title with what separates it; "" where nothing would be left."""
    mark = _ENDING.search(title)
    return mark.group() if mark and title[: mark.start()].strip() else ""


def _titles_beside(titles: dict[Path, str]) -> Iterator[str]:
    for folder in sorted({path.parent for path in titles}):
        try:
            names = sorted(path.name for path in folder.iterdir() if kind_of(path.name) == _HTML)
        except OSError:
            continue
        for name in names[:_MAX_NEIGHBOURS]:
            if folder / name not in titles and (title := _title(folder / name)):
                yield title


def _title(path: Path) -> str:
    """A page's title; "" when it has none, or cannot be read here: that is for the service to say."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode(errors="strict")
    except (OSError, ValueError):
        return ""
    begin = _BEGIN.search(head)
    end = _END.search(head, begin.end()) if begin and begin[1].lower() == "title" else None
    if begin is None or end is None:
        return ""
    return " ".join(html.unescape(head[begin.end() : end.start()]).split())
