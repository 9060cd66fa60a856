"""A store that goes away in mid-run: every question is still answered, and the leg is back without a restart."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.e2e.conftest import System

RECOVERY_SECONDS = 5.0


def legs(system: System) -> dict[str, dict[str, Any]]:
    """How each leg of a question ended; the question itself must be answered."""
    with system.client() as http:
        answer = http.post(
            "/api/search/comprehensive",
            json={"query": "Who owns the Ledger Service?"},
            headers={"X-Timeout-Ms": "3000"},
        )
    assert answer.status_code == 200, answer.text
    return {leg["name"]: leg for leg in answer.json()["legs"]}


@pytest.mark.parametrize(
    ("store", "leg", "other"), [("neo4j", "graph", "vector"), ("postgres", "vector", "graph")]
)
def test_a_store_may_go_and_come_back(system: System, store: str, leg: str, other: str) -> None:
    assert legs(system)[leg]["status"] == "OK"
    system.loop.run(system.stack.stop_process(store))
    try:
        for _ in range(5):
            ended = legs(system)
            assert (ended[leg]["status"], ended[other]["status"]) == ("UNAVAILABLE", "OK")
            assert ended[leg]["reason"] == "STORE_UNAVAILABLE"
    finally:
        system.loop.run(system.stack.start_process(store))
    back = time.monotonic()
    while legs(system)[leg]["status"] != "OK":
        assert time.monotonic() - back < RECOVERY_SECONDS
    assert legs(system)[leg]["status"] == "OK"
