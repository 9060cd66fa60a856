"""Pages of other sites cannot use a browser that reaches the gateway; programs are not affected."""

from __future__ import annotations

import pytest

from gateway.rest.http.browser_protection import is_foreign

LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize("site", ["same-origin", "none", ""])
def test_the_page_itself_and_an_entered_address_are_not_foreign(site: str) -> None:
    assert not is_foreign("POST", "/api/documents", {"sec-fetch-site": site})


def test_programs_send_no_such_header() -> None:
    assert not is_foreign("GET", "/api/documents/a", {})


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Cross-Site"])
@pytest.mark.parametrize("path", ["/api/documents/a", "/docs", "/v1/models", "/mcp", "/assets/x"])
def test_what_a_page_of_another_site_asks_for_is_foreign(site: str, path: str) -> None:
    for more in ({}, {"sec-fetch-mode": "no-cors"}, LINK):
        assert is_foreign("GET", path, {**more, "sec-fetch-site": site})


def test_a_link_opens_the_page_and_nothing_else_reaches_it() -> None:
    assert not is_foreign("GET", "/", LINK)
    assert is_foreign("POST", "/", LINK)
    for name, value in (("mode", "no-cors"), ("dest", "iframe"), ("dest", "object")):
        assert is_foreign("GET", "/", LINK | {f"sec-fetch-{name}": value})
