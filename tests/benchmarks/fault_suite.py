"""Runs every fault case, then kills a worker during a job, and the whole stack under load."""

from __future__ import annotations

from collections.abc import Sequence

from tests.benchmarks.command import Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar
from tests.faults.cases import CASES, SHORT, Case
from tests.faults.drill import Drill, Outcome, failures
from tests.faults.operations import Operations
from tests.faults.restarts import Restart, kill_everything, kill_worker
from tests.faults.system import FaultSystem, fault_system

_MODES = ("all", "short", "restarts")
# Cases by name, as written on the command line: `neo4j-stopped`.
_NAMED = {case.name.replace(" ", "-"): case for case in CASES}


async def run(options: Options) -> None:
    """Runs all cases and restarts; `--mode short` runs only the few cases of a normal test run, `--mode restarts` none.

    `--mode neo4j-stopped,neo4j-killed` runs only these cases, without restarts.
    """
    figures, chosen = Figures(options.name), _chosen(options.mode)
    restart: Restart | None = None
    async with fault_system() as system, Operations(system) as operations:
        drill = Drill(system, operations)
        await drill.prepare()
        outcomes = await _run_cases(system, drill, chosen)
        for failure in failures(outcomes):
            note(failure)
        if options.mode in _MODES:
            figures.put("worker_lease_s", await kill_worker(system, operations), "s")
            restart = await kill_everything(system, drill, operations)
    if restart is not None:
        for failure in restart.lost:
            note(f"lost over the restart: {failure}")
        figures.put("restart_s", restart.seconds, "s")
        figures.put("restart_written", restart.written, "writes")
    figures.put("cases", len(outcomes), "cases")
    figures.put("recovery_max_s", max((one.recovery for one in outcomes), default=0.0), "s")
    figures.put("defects", sum(bool(one.defects) for one in outcomes), "cases")
    lied = sum(bool(one.lied) for one in outcomes) + bool(restart and restart.lost)
    figures.put("lied", lied, "cases")
    figures.put("hung", sum(bool(one.hung) for one in outcomes), "cases")
    figures.put("not_recovered", sum(not one.recovered for one in outcomes), "cases")


def _chosen(mode: str) -> list[Case]:
    """Returns the cases of a mode. Raises UsageError if it is neither one of the three nor names of cases."""
    names = mode.split(",")
    if all(name in _NAMED for name in names):
        return [_NAMED[name] for name in names]
    if mode not in _MODES:
        raise UsageError(f"--mode takes one of {', '.join(_MODES)}, or cases: {', '.join(_NAMED)}")
    if mode == "restarts":
        return []
    return [case for case in CASES if mode == "all" or case.name in SHORT]


async def _run_cases(system: FaultSystem, drill: Drill, chosen: Sequence[Case]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    with bar("faults", len(chosen)) as show:
        for case in chosen:
            if reason := system.skip_reason(case):
                note(f"{case.name} is left out: {reason}")
                continue
            outcomes.append(await drill.run(case))
            show(len(outcomes))
    return outcomes
