"""A site is read below its address: by its sitemap or its links, as its robots.txt allows, and never beyond."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File, Found, Problem, Skipped
from gateway.cli.sources.comparison import Comparison
from gateway.cli.sources.connector import Choice, Listing
from gateway.cli.sources.fetching import Fetcher
from gateway.cli.sources.web import Site
from tests.unit.gateway.cli.sources.web_server import Answer, WebSite


@contextmanager
def reader(
    site: WebSite,
    folder: Path,
    path: str = "/docs/",
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    max_pages: int = 100,
    authorization: str = "",
) -> Iterator[Site]:
    """Yields a reader of a site that does not wait."""
    fetcher = Fetcher(
        folder,
        authorization=authorization,
        origin=site.address,
        pause=0.0,
        sleep=lambda _seconds: None,
    )
    try:
        choice = Choice(include, exclude)
        yield Site(site.address + path, "docs/", choice, fetcher, max_pages)
    finally:
        fetcher.close()


def listed(site: WebSite, folder: Path, path: str = "/docs/") -> Listing:
    """Lists a site once."""
    with reader(site, folder, path) as connector:
        return connector.listing({})


def ids(found: Sequence[Found]) -> list[str]:
    return [one.id for one in found if isinstance(one, File)]


def linked(*paths: str, title: str = "A page") -> str:
    links = "".join(f'<a href="{path}">there</a>' for path in paths)
    return f"<html><head><title>{title}</title></head><body><p>Text.</p>{links}</body></html>"


def test_links_are_followed_below_the_address_and_each_page_is_a_document(
    site: WebSite, tmp_path: Path
) -> None:
    site.put("/docs/", linked("a.html", "sub/b.html#part", "/blog/c.html", "mailto:x@example.org"))
    site.put("/docs/a.html", linked("/docs/", "?page=2", "http://[bad", title="The pump"))
    site.put("/docs/a.html?page=2", linked())
    site.put("/docs/sub/b.html", linked("../paper.pdf", "../notes.md", "../logo.png"))
    site.pages["/docs/paper.pdf"] = Answer(b"%PDF-1.7", "application/pdf")
    site.pages["/docs/notes.md"] = Answer(b"# Notes", "text/plain")
    site.pages["/docs/logo.png"] = Answer(b"PNG", "image/png")
    listing = listed(site, tmp_path)
    assert ids(listing.found) == [
        "docs/index",
        "docs/a.html",
        "docs/sub/b.html",
        "docs/a.html?page=2",
        "docs/paper.pdf",
        "docs/notes.md",
    ]
    kinds = {one.id: one.kind for one in listing.found if isinstance(one, File)}
    assert kinds["docs/paper.pdf"] == "application/pdf"
    assert kinds["docs/notes.md"] == "text/markdown"
    assert [one.type for one in listing.found if isinstance(one, Skipped)] == ["image/png"]
    assert listing.is_complete
    assert "/blog/c.html" not in site.paths()
    [page] = [one for one in listing.found if isinstance(one, File) and one.id == "docs/a.html"]
    assert page.metadata["url"] == f"{site.address}/docs/a.html"
    assert "The pump" in page.path.read_text()
    assert len(site.paths()) == len(set(site.paths()))


def test_a_sitemap_names_the_pages_even_if_nothing_links_to_them(
    site: WebSite, tmp_path: Path
) -> None:
    def sitemap(kind: str, *paths: str) -> str:
        places = "".join(f"<x><loc> {site.address}{path} </loc></x>" for path in paths)
        return f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</{kind}>'

    site.put("/robots.txt", f"User-agent: *\nSitemap: {site.address}/map.xml\n", "text/plain")
    # A host whose name begins like the site's is another one: it is not asked.
    nested = sitemap("sitemapindex", "/one.xml.gz", "/map.xml", ".invalid/two.xml")
    site.put("/map.xml", nested, "application/xml")
    packed = gzip.compress(sitemap("urlset", "/docs/a", "/docs/b", "/other/c").encode())
    site.pages["/one.xml.gz"] = Answer(packed, "application/gzip")
    site.put("/docs/a", linked("/docs/unlisted"))
    site.pages["/docs/b"] = Answer(status=500)
    listing = listed(site, tmp_path)
    assert ids(listing.found) == ["docs/a"]
    # A failing page is not gone, and the sitemap names all others.
    stored: dict[str, dict[str, str]] = {"docs/a": {}, "docs/b": {}, "docs/gone": {}}
    assert Comparison.of(listing, stored).vanished == ["docs/gone"]


def test_what_robots_must_not_read_or_keep_is_left_out(site: WebSite, tmp_path: Path) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /docs/private\n", "text/plain")
    site.put("/docs/", linked("private.html", "hidden.html", "end.html", "header.html"))
    hidden = '<meta name="Robots" content="NoIndex"><a href="behind.html">x</a>'
    site.put("/docs/hidden.html", hidden)
    site.put("/docs/end.html", '<meta name="robots" content="nofollow"><a href="never.html">x</a>')
    site.put("/docs/behind.html", linked())
    site.put("/docs/never.html", linked())
    site.pages["/docs/header.html"] = Answer(b"x", headers={"x-robots-tag": "noindex"})
    assert ids(listed(site, tmp_path).found) == ["docs/index", "docs/end.html", "docs/behind.html"]
    assert "/docs/private.html" not in site.paths()
    assert "/docs/never.html" not in site.paths()


def test_a_site_that_allows_nothing_says_so(site: WebSite, tmp_path: Path) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /\n", "text/plain")
    with pytest.raises(CliError, match=r"robots\.txt"):
        listed(site, tmp_path)


def test_rules_that_cannot_be_read_allow_nothing(site: WebSite, tmp_path: Path) -> None:
    site.pages["/robots.txt"] = Answer(status=500)
    site.put("/docs/", linked())
    with pytest.raises(CliError, match=r"robots\.txt answers 500"):
        listed(site, tmp_path)


def test_pages_behind_one_that_fails_are_not_gone(site: WebSite, tmp_path: Path) -> None:
    site.put("/docs/", linked("hub.html"))
    site.pages["/docs/hub.html"] = Answer(status=503)
    listing = listed(site, tmp_path)
    assert [one.reason for one in listing.found if isinstance(one, Problem)] == ["answers 503"]
    assert Comparison.of(listing, {"docs/behind.html": {}}).vanished == []


def test_a_page_that_is_gone_is_gone(site: WebSite, tmp_path: Path) -> None:
    site.put("/docs/", linked("old.html"))
    listing = listed(site, tmp_path)
    assert Comparison.of(listing, {"docs/index": {}, "docs/old.html": {}}).vanished == [
        "docs/old.html"
    ]


@pytest.mark.parametrize("answer", [Answer(status=404), Answer(status=500)])
def test_a_site_without_its_first_page_is_an_error(
    site: WebSite, tmp_path: Path, answer: Answer
) -> None:
    site.pages["/docs/"] = answer
    with pytest.raises(CliError, match=f"/docs/ answers {answer.status}"):
        listed(site, tmp_path)


@pytest.mark.parametrize("end", ["/docs/b", "/docs/a?again", "/outside"])
def test_redirects_end(site: WebSite, tmp_path: Path, end: str) -> None:
    site.put("/docs/", linked("a"))
    for number in range(20):
        site.pages[f"/docs/a?{number}"] = Answer(
            status=302, headers={"location": f"/docs/a?{number + 1}"}
        )
    first = "/docs/a?0" if "again" in end else end
    site.pages["/docs/a"] = Answer(status=302, headers={"location": first})
    site.pages["/docs/b"] = Answer(status=301, headers={"location": "/docs/a"})
    site.put("/outside", linked())
    listing = listed(site, tmp_path)
    assert ids(listing.found) == ["docs/index"]
    reasons = [one.reason for one in listing.found if isinstance(one, Problem)]
    assert reasons == ([] if end == "/outside" else ["redirects without end"])


def test_a_page_under_two_addresses_is_one_document(site: WebSite, tmp_path: Path) -> None:
    site.put("/docs/", linked("old", "new"))
    site.pages["/docs/old"] = Answer(status=301, headers={"location": "new"})
    site.put("/docs/new", linked())
    assert ids(listed(site, tmp_path).found) == ["docs/index", "docs/new"]


def test_endless_links_end(site: WebSite, tmp_path: Path) -> None:
    for number in range(30):
        site.put(f"/docs/{number or ''}", linked(str(number + 1)))
    with reader(site, tmp_path, max_pages=10) as connector:
        listing = connector.listing({})
    assert len(ids(listing.found)) == 10
    assert not listing.is_complete
    assert [one.reason for one in listing.found if isinstance(one, Problem)] == [
        "has more than 10 pages: the others are not read"
    ]


def test_an_unchanged_page_is_not_sent_again_and_its_links_are_known(
    site: WebSite, tmp_path: Path
) -> None:
    site.put("/docs/", linked("a.html"))
    site.put("/docs/a.html", linked())
    first = listed(site, tmp_path)
    site.asked.clear()
    again = listed(site, tmp_path)
    assert ids(again.found) == ids(first.found) == ["docs/index", "docs/a.html"]
    stored = {one.id: one.metadata for one in first.found if isinstance(one, File)}
    assert Comparison.of(again, stored).unchanged == 2
    sent = [headers.get("if-none-match") for path, headers in site.asked if "/docs/" in path]
    assert all(sent)
    site.put("/docs/a.html", linked(title="Another"))
    assert Comparison.of(listed(site, tmp_path), stored).changed == ["docs/a.html"]


def test_a_body_that_is_too_large_is_reported(
    site: WebSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cli.sources.web.MAX_FILE_BYTES", 1000)
    site.put("/docs/", linked("long.html"))
    site.put("/docs/long.html", "x" * 1001)
    for _ in range(2):
        listing = listed(site, tmp_path)
        reasons = [one.reason for one in listing.found if isinstance(one, Problem)]
        assert reasons == ["is larger than 1000 bytes"]


def test_included_and_excluded_paths_are_those_below_the_address(
    site: WebSite, tmp_path: Path
) -> None:
    site.put("/docs/", linked("guide/a.html", "guide/b.html", "c.html"))
    for path in ("guide/a.html", "guide/b.html", "c.html"):
        site.put(f"/docs/{path}", linked())
    with reader(site, tmp_path, include=["guide/"], exclude=["b.html"]) as connector:
        assert ids(connector.listing({}).found) == ["docs/guide/a.html"]


def test_the_credential_is_sent_to_its_own_site_only(site: WebSite, tmp_path: Path) -> None:
    other = site.address.replace("127.0.0.1", "localhost")
    site.put("/docs/", linked("a"))
    site.pages["/docs/a"] = Answer(status=302, headers={"location": f"{other}/docs/b"})
    site.put("/docs/b", linked())
    with reader(site, tmp_path, authorization="Bearer secret") as connector:
        connector.listing({})
    sent = {path: headers.get("authorization") for path, headers in site.asked}
    assert sent["/docs/"] == "Bearer secret"
    assert sent["/docs/b"] is None


@pytest.mark.parametrize("path", ["/docs", "/docs/", "/docs/index.html"])
def test_a_site_is_what_is_below_the_folder_of_its_address(
    site: WebSite, tmp_path: Path, path: str
) -> None:
    for start in ("/docs", "/docs/", "/docs/index.html"):
        site.put(start, linked("/docs/a.html", "/other.html"))
    site.put("/docs/a.html", linked())
    site.put("/other.html", linked())
    names = ids(listed(site, tmp_path, path).found)
    assert names == ["docs/index", "docs/a.html"]


def test_a_site_that_has_moved_is_read_where_it_is(site: WebSite, tmp_path: Path) -> None:
    there = site.address.replace("127.0.0.1", "localhost")
    site.pages["/docs/"] = Answer(status=301, headers={"location": f"{there}/manual/"})
    site.put("/manual/", linked("a.html"))
    site.put("/manual/a.html", linked())
    listing = listed(site, tmp_path)
    assert ids(listing.found) == ["docs/index", "docs/a.html"]
    places = [one.metadata["url"] for one in listing.found if isinstance(one, File)]
    assert places == [f"{there}/manual/", f"{there}/manual/a.html"]
    assert site.paths().count("/robots.txt") == 2
