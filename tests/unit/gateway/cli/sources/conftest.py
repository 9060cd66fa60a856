"""A web site of each test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.gateway.cli.sources.web_server import WebSite, web_site


@pytest.fixture
def site() -> Iterator[WebSite]:
    """Serves a site."""
    with web_site() as served:
        yield served
