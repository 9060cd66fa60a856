"""RSS and Atom feeds: each entry is a document, valid since it was published."""

from __future__ import annotations

import calendar
import hashlib
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File
from gateway.cli.sources.connector import Listing
from gateway.cli.sources.fetching import Fetcher, FetchError
from gateway.cli.sources.folder import with_fingerprint
from gateway.content_types import CONTENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gateway.cli.ingest.files import Found
    from gateway.cli.sources.connector import Choice, Stored

MAX_FEED_BYTES = 16 * 1024 * 1024


class Feed:
    """The entries of a feed. One that it no longer lists stays."""

    def __init__(
        self, root: str, prefix: str, choice: Choice, fetcher: Fetcher, into: Path
    ) -> None:
        """Entries are written `into` a folder."""
        self._root = root
        self._prefix = prefix
        self._choice = choice
        self._fetcher = fetcher
        self._into = into

    def listing(self, _stored: Stored) -> Listing:
        """See the protocol. Raises CliError if the feed cannot be read."""
        import feedparser  # noqa: PLC0415 - takes 60 ms

        try:
            page = self._fetcher.get(self._root, max_bytes=MAX_FEED_BYTES)
        except FetchError as error:
            raise CliError(f"{self._root} {error}") from None
        parsed = feedparser.parse(
            page.path.read_bytes(), response_headers={"content-location": page.address}
        )
        if not parsed.get("version"):
            raise CliError(f"{self._root} is not an RSS or Atom feed")
        files = {one.id: one for entry in parsed.entries if (one := self._file(entry))}
        return Listing(list(files.values()), is_complete=False)

    def fetched(self, file: File) -> Iterator[Found]:
        """See the protocol: it was written when it was listed."""
        yield file

    def _file(self, entry: Any) -> File | None:
        """Returns an entry as a document; None for one that cannot be told from others, or is not to be read."""
        address = entry.get("link", "")
        name = (address or entry.get("id", "")).partition("://")[2] or entry.get("id", "")
        if not name or not self._choice.takes(name):
            return None
        path = self._into / f"{hashlib.sha256(name.encode()).hexdigest()}.html"
        path.write_text(_page(entry))
        about = {"url": address, "author": entry.get("author", "")}
        return with_fingerprint(
            File(
                path=path,
                id=self._prefix + name,
                kind=CONTENT_TYPES[".html"],
                metadata={key: value for key, value in about.items() if value},
                prefix=self._prefix,
                address=address or f"{self._root} {name}",
                valid_at=_published(entry),
            )
        )


def _page(entry: Any) -> str:
    """Returns an entry's title and longest content as a page."""
    contents = [one.get("value", "") for one in entry.get("content", ())]
    content = max([entry.get("summary", ""), *contents], key=len)
    title = escape(entry.get("title", ""))
    return f"<!doctype html><meta charset=utf-8><title>{title}</title><h1>{title}</h1>\n{content}\n"


def _published(entry: Any) -> str:
    # The entry's own `get` takes one date for the other.
    parsed = dict.get(entry, "published_parsed") or dict.get(entry, "updated_parsed")
    return datetime.fromtimestamp(calendar.timegm(parsed), UTC).isoformat() if parsed else ""
