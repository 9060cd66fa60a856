"""Web sites: the pages and files below an address, from its sitemap or by its links, as its robots.txt allows."""

from __future__ import annotations

import gzip
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from lxml import etree, html

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File, Problem, Skipped, without_site_names
from gateway.cli.ingest.ingestion import MAX_FILE_BYTES
from gateway.cli.sources.connector import Listing
from gateway.cli.sources.fetching import AGENT, Fetcher, FetchError, Page
from gateway.cli.sources.folder import with_fingerprint
from gateway.content_types import CONTENT_TYPES, content_type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gateway.cli.ingest.files import Found
    from gateway.cli.sources.connector import Choice, Stored

_HTML = "text/html"
_PAGES = frozenset({_HTML, "application/xhtml+xml"})
# A server's general type says less than the end of a file's name.
_UNKNOWN = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
_KINDS = frozenset(CONTENT_TYPES.values())
_MAX_ROBOTS_BYTES = 512 * 1024
_MAX_SITEMAP_BYTES = 50 * 1024 * 1024
_MAX_SITEMAPS = 500
_MAX_PAUSE = 10.0
_SERVER_ERROR = 500


@dataclass(slots=True)
class _Seen:
    """What a crawl has found, and what it has still to read."""

    waiting: deque[str]
    known: set[str]
    taken: set[str] = field(default_factory=set)
    found: list[Found] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


class Site:
    """The pages and files below an address."""

    def __init__(
        self, root: str, prefix: str, choice: Choice, fetcher: Fetcher, max_pages: int = 10_000
    ) -> None:
        """`root` is the address of a page, below which all others are, or of a sitemap."""
        self._root = self._origin = self._base = ""
        self._is_below(root)
        self._prefix = prefix
        self._choice = choice
        self._fetcher = fetcher
        self._max_pages = max_pages

    def _is_below(self, root: str) -> None:
        """Sets where the site begins: all of it is below `docs` for `/docs`, `/docs/` and `/docs/index.html`."""
        parts = urlsplit(urldefrag(root).url)
        path = parts.path or "/"
        folder, _, last = path.rpartition("/")
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._root = f"{self._origin}{path}{f'?{parts.query}' if parts.query else ''}"
        self._base = f"{self._origin}{folder if '.' in last or not last else path}/"

    def _is_of_site(self, address: str) -> bool:
        return address.startswith(self._base) or address == self._root

    def listing(self, _stored: Stored) -> Listing:
        """See the protocol. Raises CliError if the site cannot be read at all."""
        robots = self._robots()
        if not robots.can_fetch(AGENT, self._root):
            text = f"must not be read: {self._origin}/robots.txt forbids it"
            raise CliError(f"{self._root} {text}")
        robots = self._moved(robots)
        given = self._from_sitemaps(robots)
        start = given or [self._root]
        seen = _Seen(deque(start), set(start))
        read = 0
        while seen.waiting and read < self._max_pages:
            address = seen.waiting.popleft()
            if not robots.can_fetch(AGENT, address):
                continue
            read += 1
            links = self._read(address, seen)
            if not given:
                for link in links:
                    if link not in seen.known and self._is_of_site(link):
                        seen.known.add(link)
                        seen.waiting.append(link)
        if seen.waiting:
            text = f"has more than {self._max_pages} pages: the others are not read"
            seen.found.append(Problem(self._root, text))
        # Behind a page that could not be read may be others; a sitemap names them all.
        is_complete = not seen.waiting and (bool(given) or not seen.unreadable)
        return Listing(list(without_site_names(seen.found)), seen.unreadable, is_complete)

    def _moved(self, robots: RobotFileParser) -> RobotFileParser:
        """Follows the site to where its first page is, such as `www.example.org`; returns the rules that hold there."""
        try:
            page = self._fetcher.get(self._root, max_bytes=MAX_FILE_BYTES)
        except FetchError as error:
            if error.is_gone:
                return robots  # a sitemap may name the pages nevertheless
            raise CliError(f"{self._root} {error}") from None
        origin = self._origin
        if page.address != self._root:
            self._is_below(page.address)
        return robots if self._origin == origin else self._robots()

    def fetched(self, file: File) -> Iterator[Found]:
        """See the protocol: it was read when it was listed."""
        yield file

    def _read(self, address: str, seen: _Seen) -> Sequence[str]:
        """Reads an address, and notes what is at it; returns the addresses that it links to."""
        try:
            page = self._fetcher.get(address, max_bytes=MAX_FILE_BYTES)
        except FetchError as error:
            if address == self._root:
                raise CliError(f"{address} {error}") from None
            if not error.is_gone:
                seen.found.append(Problem(address, str(error)))
                seen.unreadable.append(self._id(address))
            return ()
        if not self._is_of_site(page.address) or page.address in seen.taken:
            return ()
        seen.taken.add(page.address)
        name = urlsplit(page.address).path.rpartition("/")[2]
        kind = _HTML if page.kind in _PAGES else _kind(page.kind, name)
        links, rules = _links(page) if kind == _HTML else ((), "")
        rules += page.robots
        within = self._id(page.address).removeprefix(self._prefix)
        if "noindex" not in rules and "none" not in rules and self._choice.takes(within):
            seen.found.append(self._file(page, kind) if kind else Skipped(Path(name), page.kind))
        return () if "nofollow" in rules or "none" in rules else links

    def _file(self, page: Page, kind: str) -> File:
        return with_fingerprint(
            File(
                path=page.path,
                id=self._id(page.address),
                kind=kind,
                metadata={"url": page.address},
                prefix=self._prefix,
                address=page.address,
            )
        )

    def _id(self, address: str) -> str:
        within = "" if address == self._root else address.removeprefix(self._base)
        return self._prefix + (within or "index")

    def _robots(self) -> RobotFileParser:
        """Returns the site's rules. Raises CliError if they cannot be read: then nothing is allowed."""
        rules = RobotFileParser()
        place = f"{self._origin}/robots.txt"
        try:
            page = self._fetcher.get(place, max_bytes=_MAX_ROBOTS_BYTES)
        except FetchError as error:
            if not error.status or error.status >= _SERVER_ERROR:
                raise CliError(f"{place} {error}") from None
            rules.parse([])
            return rules
        rules.parse(page.path.read_text(errors="replace").splitlines())
        pause = rules.crawl_delay(AGENT)
        if pause is not None:
            self._fetcher.pause = max(self._fetcher.pause, min(_MAX_PAUSE, float(pause)))
        return rules

    def _from_sitemaps(self, robots: RobotFileParser) -> list[str]:
        """Returns the site's addresses below the root that its sitemaps name; none without a sitemap."""
        is_sitemap = self._root.endswith((".xml", ".xml.gz"))
        named = (
            [self._root] if is_sitemap else robots.site_maps() or [f"{self._origin}/sitemap.xml"]
        )
        waiting, known = deque(named), set(named)
        pages: dict[str, None] = {}
        while waiting and len(known) <= _MAX_SITEMAPS:
            place = waiting.popleft()
            try:
                nested, addresses = _sitemap(self._fetcher.get(place, max_bytes=_MAX_SITEMAP_BYTES))
            except FetchError as error:
                if is_sitemap or not error.is_gone:
                    raise CliError(f"{place} {error}") from None
                continue
            more = [
                one for one in nested if one.startswith(f"{self._origin}/") and one not in known
            ]
            known.update(more)
            waiting.extend(more)
            pages.update(dict.fromkeys(filter(self._is_of_site, addresses)))
        return list(pages)


def _kind(media_type: str, name: str) -> str:
    """Returns the type of what is at an address; "" if it cannot be ingested."""
    by_name = content_type_of(name)
    if media_type in _UNKNOWN and by_name:
        return by_name
    return media_type if media_type in _KINDS else ""


def _links(page: Page) -> tuple[Sequence[str], str]:
    """Returns the addresses that a page links to, and what it says to robots."""
    try:
        tree = html.document_fromstring(page.path.read_bytes(), base_url=page.address)
    except (etree.ParserError, ValueError):
        return (), ""
    base = next((one.get("href", "") for one in tree.iter("base")), "")
    around = urljoin(page.address, base)
    named = ("robots", AGENT)
    rules = " ".join(
        one.get("content", "") for one in tree.iter("meta") if one.get("name", "").lower() in named
    )
    links = []
    for one in tree.iter("a", "area"):
        if "nofollow" not in one.get("rel", ""):
            try:
                links.append(urldefrag(urljoin(around, one.get("href", "").strip())).url)
            except ValueError:  # an address that is none
                continue
    return links, rules.lower()


def _sitemap(page: Page) -> tuple[list[str], list[str]]:
    """Returns the further sitemaps and the pages that a sitemap names; none if it is no sitemap."""
    body = page.path.read_bytes()
    if body.startswith(b"\x1f\x8b"):
        with gzip.open(page.path) as file:
            body = file.read(_MAX_SITEMAP_BYTES)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    try:
        tree = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return [], []
    if tree is None:
        return [], []
    places = [(one.text or "").strip() for one in tree.iter("{*}loc")]
    return (places, []) if etree.QName(tree).localname == "sitemapindex" else ([], places)
