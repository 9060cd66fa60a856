"""Peers are measured with pinned packages of their own, which Braid does not depend on, and the same text as Braid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.benchmarks.peers import measure
from tests.benchmarks.peers.measure import PEERS, Peer, passage_line
from tests.evals.datasets import Document

_LOCK = Path(__file__).parents[3] / "requirements.lock"


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_has_a_program_and_pinned_packages(peer: Peer) -> None:
    assert (Path(measure.__file__).parent / f"{peer.name}_peer.py").is_file()
    assert all(re.fullmatch(r"[\w\-]+(\[[\w,]+\])?==[\d.]+", one) for one in peer.packages)


def test_braid_depends_on_no_peer() -> None:
    locked = re.findall(r"^([\w\-]+)==", _LOCK.read_text(), re.MULTILINE)
    assert not {one.packages[0].partition("==")[0] for one in PEERS if one.packages} & {*locked}


def test_a_passage_is_one_line_because_peers_replace_line_breaks() -> None:
    document = Document("1", "A title", "One line.\n Another  one.")
    assert passage_line(document) == "A title. One line. Another one."
