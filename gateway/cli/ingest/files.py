"""Finds files to ingest by name, and removes site names from titles of web pages."""

from __future__ import annotations

import html
import os
import re
import stat
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.cli.errors import CliError
from gateway.content_types import SUPPORTED, content_type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gateway.cli.ingest.ignore_rules import IgnoreRules


_HTML = "text/html"
# Fewer pages with the same ending may be a series of documents.
_MIN_PAGES = 3
_HEAD_BYTES = 64 * 1024
_MAX_NEIGHBORS = 200
_BEGIN = re.compile(r"<(title|body)\b[^>]{0,999}>", re.IGNORECASE)
_END = re.compile(r"</title", re.IGNORECASE)
_MARK = re.compile(r"\s[-–—−|·•»:]|[|»]")
_SEPARATOR = re.compile(r"(?:\s[-–—−|·•»:]|[|»]|\s::)\s")


def without_site_names(found: Iterable[Found]) -> Iterator[Found]:
    """Returns the sources; removes the ending of a page's title that it shares with at least two others and half of
    all.

    Pages next to a single given page count as well, so that it has the same title in every way of ingestion.
    """
    items = list(found)
    titles = {
        item.path: title
        for item in items
        if isinstance(item, File) and item.kind == _HTML and (title := _title(item.path))
    }
    site_names = _shared_endings([*titles.values(), *_titles_beside(titles)])
    for item in items:
        title = titles.get(item.path, "") if isinstance(item, File) else ""
        ending = _ending(title)
        if isinstance(item, File) and ending in site_names:
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
    """Returns the last part of a title with its separator; "" if nothing else would remain."""
    separator = deque(_SEPARATOR.finditer(title), maxlen=1)
    if not separator or _MARK.search(title, separator[0].end()):
        return ""
    kept = title[: separator[0].start()].rstrip()
    return title[len(kept) :] if kept else ""


def _titles_beside(titles: dict[Path, str]) -> Iterator[str]:
    for folder in sorted({path.parent for path in titles}):
        try:
            names = sorted(
                path.name for path in folder.iterdir() if content_type_of(path.name) == _HTML
            )
        except OSError:
            continue
        for name in names[:_MAX_NEIGHBORS]:
            if folder / name not in titles and (title := _title(folder / name)):
                yield title


def _title(path: Path) -> str:
    """Returns a page's title; "" if it has none or cannot be read here (the service reports that)."""
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


@dataclass(frozen=True, slots=True)
class File:
    """A file to ingest. Without `title` the service determines the title.

    `id` is its path within the given folder, after the folder's `prefix`, which is "" for a file that was given itself.
    `address` is where it was read if that is another place than `path`, and `valid_at` the RFC 3339 time since when its
    content holds, if that is known.
    """

    path: Path
    id: str
    kind: str
    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    address: str = ""
    valid_at: str = ""

    @property
    def place(self) -> str:
        """Where it was read, for a reader."""
        return self.address or printable(self.path)

    def document_id_of(self, name: str) -> str:
        """Returns the id of the file with this path within the same folder; the name itself without such a file."""
        root = str(self.path).removesuffix(self.id.removeprefix(self.prefix))
        try:
            known = bool(self.prefix) and ".." not in name and Path(root, name).is_file()
        except ValueError:  # a character that no path has
            known = False
        return self.prefix + name if known else name


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be ingested, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file in a folder that is of no supported type; `kind` is its media type, if only that is known."""

    path: Path
    kind: str = ""

    @property
    def type(self) -> str:
        """The end of the file's name in lower case, such as `.zip`; `without extension` if it has none."""
        return self.kind or self.path.suffix.lower() or "without extension"


Found = File | Problem | Skipped


def prefix_of(folder: Path, given: str | None = None) -> str:
    """Returns what the ids of a folder's documents begin with: its name, or the given one, and a slash.

    Raises CliError for a name that could be the beginning of another folder's ids.
    """
    return source_prefix(folder.resolve().name if given is None else given)


def source_prefix(name: str) -> str:
    """Returns what the ids of a source's documents begin with. Raises CliError if it could be that of another one."""
    if not name.strip() or not name.isprintable() or "/" in name:
        # With a `/`, paths of two folders could be equal.
        message = "the source needs a --name of printable characters without `/`"
        raise CliError(message, reason="INVALID_FIELD")
    return f"{name}/"


def find(
    paths: Sequence[Path],
    rules: IgnoreRules | None = None,
    prefixes: Mapping[Path, str] | None = None,
) -> Iterator[Found]:
    """Returns all files under `paths`, folders recursively and in order of name, except hidden and ignored files.

    `prefixes` are those of the ids of each folder's files; by default there are none.
    """
    taken: dict[str, Path] = {}
    for path in paths:
        for found in _Walk(path, rules, (prefixes or {}).get(path, "")).found():
            if isinstance(found, File):
                if not is_text(found.id):
                    yield Problem(printable(found.path), "its name is not UTF-8")
                    continue
                other = taken.setdefault(found.id, found.path)
                if other != found.path:
                    yield Problem(printable(found.path), f"would be the same document as {other}")
                    continue
            yield found


class _Walk:
    """Walks a given file or folder."""

    def __init__(self, root: Path, rules: IgnoreRules | None, prefix: str) -> None:
        self._root = root
        self._rules = rules
        self._prefix = prefix

    def found(self) -> Iterator[Found]:
        """Yields everything that was found."""
        path = self._root
        mode = _mode(path)
        if isinstance(mode, Problem):
            yield mode
        elif stat.S_ISDIR(mode):
            yield from self._folder(path, frozenset())
        elif not stat.S_ISREG(mode):
            yield Problem(printable(path), "is not a file")
        elif kind := content_type_of(path.name):
            yield File(path, path.name, kind)
        else:
            yield Problem(printable(path), f"is none of {SUPPORTED}")

    def _folder(self, folder: Path, above: frozenset[tuple[int, int]]) -> Iterator[Found]:
        try:
            info = folder.stat()
            names = sorted(os.listdir(folder))  # noqa: PTH208 - names, not paths
        except OSError as error:
            yield Problem(printable(folder), _reason(error))
            return
        here = (info.st_dev, info.st_ino)
        if here in above:
            yield Problem(printable(folder), "links back to a folder that holds it")
            return
        for name in names:
            if not name.startswith("."):
                yield from self._entry(folder / name, above | {here})

    def _entry(self, path: Path, above: frozenset[tuple[int, int]]) -> Iterator[Found]:
        mode, kind = _mode(path), content_type_of(path.name)
        is_folder = not isinstance(mode, Problem) and stat.S_ISDIR(mode)
        if self._rules is not None and self._rules.ignores(path, is_folder=is_folder):
            return
        if isinstance(mode, Problem):
            # A dangling link to a file that would be skipped is skipped as well.
            yield mode if kind or not path.suffix else Skipped(path)
        elif is_folder:
            yield from self._folder(path, above)
        elif not stat.S_ISREG(mode):
            yield Problem(printable(path), "is not a file")
        elif kind:
            within = path.relative_to(self._root).as_posix()
            yield File(path, self._prefix + within, kind, prefix=self._prefix)
        else:
            yield Skipped(path)


def _mode(path: Path) -> int | Problem:
    try:
        return path.stat().st_mode
    except (OSError, ValueError) as error:
        return Problem(printable(path), _reason(error))


def printable(path: Path) -> str:
    """Returns a path with any bytes in printable form."""
    return os.fsencode(path).decode(errors="replace")


def is_text(name: str) -> bool:
    """Whether a name is text, so that it can be sent."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _reason(error: Exception) -> str:
    """Returns the operating system's reason without the path, which is shown separately."""
    return (getattr(error, "strerror", None) or str(error)).lower()
