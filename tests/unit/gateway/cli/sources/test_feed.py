"""Each entry of a feed is a document, valid since it was published; one that is no longer listed stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File
from gateway.cli.sources.comparison import Comparison
from gateway.cli.sources.connector import Choice, Listing
from gateway.cli.sources.feed import MAX_FEED_BYTES, Feed
from gateway.cli.sources.fetching import Fetcher
from tests.unit.gateway.cli.sources.web_server import Answer, WebSite

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>{}</channel></rss>"""
ITEM = (
    "<item><title>{title}</title><link>https://example.org/{name}</link><pubDate>{date}</pubDate>"
    "<description>&lt;p&gt;{text}&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;</description></item>"
)
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
<entry><id>tag:example.org,2026:7</id><title>Release &lt;7&gt;</title><updated>2026-03-04T05:06:07+02:00</updated>
<author><name>Noor</name></author><summary>Short.</summary>
<content type="html">The whole &lt;b&gt;text&lt;/b&gt; of it.</content></entry>
<entry><title>Nothing tells it from others</title></entry></feed>"""


def listed(
    site: WebSite, folder: Path, include: Sequence[str] = (), path: str = "/feed"
) -> Listing:
    fetcher = Fetcher(folder / "cache", pause=0.0)
    try:
        choice = Choice(include, ())
        return Feed(f"{site.address}{path}", "news/", choice, fetcher, folder).listing({})
    finally:
        fetcher.close()


def files(listing: Listing) -> list[File]:
    return [one for one in listing.found if isinstance(one, File)]


def item(name: str, text: str = "It rained.", date: str = "Mon, 02 Nov 2026 10:00:00 +0100") -> str:
    return ITEM.format(title=f"About {name}", name=name, text=text, date=date)


def test_an_entry_of_rss_is_a_page_that_holds_since_its_date(site: WebSite, tmp_path: Path) -> None:
    site.put("/feed", RSS.format(item("a") + item("b", date="nonsense")), "application/rss+xml")
    first, second = files(listed(site, tmp_path))
    assert (first.id, first.valid_at) == ("news/example.org/a", "2026-11-02T09:00:00+00:00")
    assert first.metadata["url"] == first.place == "https://example.org/a"
    text = first.path.read_text()
    assert "<title>About a</title>" in text
    assert "<p>It rained.</p>" in text
    assert "script" not in text
    assert second.valid_at == ""


def test_an_entry_of_atom_has_its_longest_content_and_its_author(
    site: WebSite, tmp_path: Path
) -> None:
    site.put("/feed", ATOM, "application/atom+xml")
    [entry] = files(listed(site, tmp_path))
    assert entry.id == "news/tag:example.org,2026:7"
    assert entry.metadata["author"] == "Noor"
    assert entry.valid_at == "2026-03-04T03:06:07+00:00"
    assert "The whole <b>text</b> of it." in entry.path.read_text()
    assert "Release &lt;7&gt;" in entry.path.read_text()


def test_an_entry_that_is_no_longer_listed_stays_and_a_changed_one_is_new(
    site: WebSite, tmp_path: Path
) -> None:
    site.put("/feed", RSS.format(item("a") + item("b")))
    stored = {one.id: one.metadata for one in files(listed(site, tmp_path))}
    site.put("/feed", RSS.format(item("b", "It snowed.") + item("c")))
    compared = Comparison.of(listed(site, tmp_path), stored)
    assert (compared.new, compared.changed) == (["news/example.org/c"], ["news/example.org/b"])
    assert compared.vanished == []


def test_only_included_entries_are_read(site: WebSite, tmp_path: Path) -> None:
    site.put("/feed", RSS.format(item("a") + item("b")))
    assert [one.id for one in files(listed(site, tmp_path, ["*/b"]))] == ["news/example.org/b"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(b"<html><p>Not a feed"), "is not an RSS or Atom feed"),
        (Answer(b""), "is not an RSS or Atom feed"),
        (Answer(status=410), "answers 410"),
        (Answer(b" " * (MAX_FEED_BYTES + 1)), f"is larger than {MAX_FEED_BYTES} bytes"),
    ],
    ids=["page", "empty", "gone", "long"],
)
def test_what_is_no_feed_is_an_error(
    site: WebSite, tmp_path: Path, answer: Answer, reason: str
) -> None:
    site.pages["/feed"] = answer
    with pytest.raises(CliError, match=reason):
        listed(site, tmp_path)


def test_entities_of_a_feed_are_not_expanded(site: WebSite, tmp_path: Path) -> None:
    bomb = "<!DOCTYPE rss [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'><!ENTITY f SYSTEM 'file:///etc/passwd'>]>"
    site.put("/feed", bomb + RSS.format(item("a", "&f;&b;")).partition("?>")[2])
    [entry] = files(listed(site, tmp_path))
    assert "root:" not in entry.path.read_text()
