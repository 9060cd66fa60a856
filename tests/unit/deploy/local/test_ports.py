"""Default ports are used if they are free, otherwise other ports."""

import socket

import pytest

from deploy.local import ports
from deploy.local.ports import LOOPBACK, choose, free_ports, is_free


def test_free_ports_are_distinct_and_free() -> None:
    found = free_ports(5)
    assert len(set(found)) == 5
    assert all(is_free(port) for port in found)


def test_a_taken_port_is_replaced_and_a_free_one_is_kept() -> None:
    with socket.socket() as holder:
        holder.bind((LOOPBACK, 0))
        holder.listen()
        taken = holder.getsockname()[1]
        (free,) = free_ports(1)
        chosen = choose({"one": taken, "two": free, "three": 0})
    assert chosen["one"] != taken
    assert chosen["two"] == free
    assert chosen["three"] > 0
    assert len(set(chosen.values())) == 3


def test_a_replacement_is_none_of_the_wanted_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    found = free_ports(4)
    monkeypatch.setattr(ports, "free_ports", lambda _count: found)
    chosen = choose({"one": found[0], "two": found[1], "three": 0, "four": 0})
    assert list(chosen.values()) == found
