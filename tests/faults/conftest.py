"""Fixtures of the fault tests: the system with a proxy in front of every dependency, started once per session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import LoopThread
from tests.faults.drill import Drill
from tests.faults.operations import Operations
from tests.faults.system import FaultSystem, fault_system


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option with which `make faults` runs all cases instead of a few."""
    parser.addoption("--all-faults", action="store_true", help="run every fault, not only a few")


@pytest.fixture(scope="session")
def broken(stores_loop: LoopThread) -> Iterator[FaultSystem]:
    """The system into which faults are injected."""
    manager = fault_system()
    yield stores_loop.run(manager.__aenter__())
    stores_loop.run(manager.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def drill(broken: FaultSystem, stores_loop: LoopThread) -> Iterator[Drill]:
    """Runs fault cases against the system."""
    operations = Operations(broken)
    stores_loop.run(operations.__aenter__())
    drill = Drill(broken, operations)
    stores_loop.run(drill.prepare())
    yield drill
    stores_loop.run(operations.__aexit__(None, None, None))
