"""During every fault no response is false or late, and afterwards the system recovers soon."""

from __future__ import annotations

import pytest

from tests.conftest import LoopThread
from tests.faults.cases import CASES, SHORT, Case
from tests.faults.drill import Drill
from tests.faults.system import FaultSystem


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fault_causes_no_false_or_late_responses_and_the_system_recovers(
    request: pytest.FixtureRequest, stores_loop: LoopThread, case: Case
) -> None:
    if case.name not in SHORT and not request.config.getoption("--all-faults", default=False):
        pytest.skip("one of the long suite: make faults")
    broken: FaultSystem = request.getfixturevalue("broken")
    if reason := broken.skip_reason(case):
        pytest.skip(reason)
    drill: Drill = request.getfixturevalue("drill")
    outcome = stores_loop.run(drill.run(case))
    assert outcome.failures == []
