"""The command line shows when a fact holds, happened or is mentioned."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.cli.output import fact_line, span

FACT: dict[str, Any] = {
    "fact": "The Ledger Service caused INC-104.",
    "valid_at": None,
    "invalid_at": None,
    "event": False,
    "mentioned_at": None,
    "origin": "given",
    "sources": [],
}
DAY, LATER = "2024-04-18T00:00:00Z", "2024-06-10T00:00:00Z"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "undated"),
        ({"valid_at": DAY}, "2024-04-18 → now"),
        ({"valid_at": DAY, "invalid_at": LATER}, "2024-04-18 → 2024-06-10"),
        ({"invalid_at": LATER}, "… → 2024-06-10"),
        ({"valid_at": DAY, "event": True}, "on 2024-04-18"),
        ({"valid_at": DAY, "invalid_at": "2024-04-19T00:00:00Z", "event": True}, "on 2024-04-18"),
        ({"event": True}, "undated"),
        ({"origin": "local", "mentioned_at": DAY}, "mentioned 2024-04-18"),
        ({"origin": "local"}, "mentioned"),
    ],
)
def test_a_fact_line_shows_its_period(changes: dict[str, Any], words: str) -> None:
    fact = FACT | changes
    assert span(fact) == words
    assert fact_line(fact).plain == f"{fact['fact']}  ({words})  {fact['origin']}"
