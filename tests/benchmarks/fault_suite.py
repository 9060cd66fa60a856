"""Every fault of every dependency; then a worker that dies at work, and the whole stack killed under load."""

from __future__ import annotations

from tests.benchmarks.command import Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar
from tests.faults.cases import CASES, SHORT
from tests.faults.drill import Drill, Outcome, failures
from tests.faults.operations import Operations
from tests.faults.restarts import kill_everything, kill_worker
from tests.faults.system import fault_system

_MODES = ("all", "short", "restarts")


async def run(options: Options) -> None:
    """`--mode short` runs the few cases that a run of all tests has, `--mode restarts` none of them."""
    if options.mode not in _MODES:
        raise UsageError(f"--mode takes one of {', '.join(_MODES)}")
    figures = Figures(options.name)
    async with fault_system() as system, Operations(system) as operations:
        drill = Drill(system, operations)
        await drill.prepare()
        outcomes: list[Outcome] = []
        chosen = [case for case in CASES if options.mode == "all" or case.name in SHORT]
        if options.mode == "restarts":
            chosen = []
        with bar("faults", len(chosen)) as show:
            for case in chosen:
                if reason := system.why_not(case):
                    note(f"{case.name} is left out: {reason}")
                    continue
                outcomes.append(await drill.run(case))
                show(len(outcomes))
        for failure in failures(outcomes):
            note(failure)
        lease = await kill_worker(system, operations)
        restart = await kill_everything(system, drill, operations)
    for failure in restart.lost:
        note(f"lost over the restart: {failure}")
    figures.put("cases", len(outcomes), "cases")
    figures.put("recovery_max_s", max((one.recovery for one in outcomes), default=0.0), "s")
    figures.put("worker_lease_s", lease, "s")
    figures.put("restart_s", restart.seconds, "s")
    figures.put("restart_written", restart.written, "writes")
    figures.put("defects", sum(bool(one.defects) for one in outcomes), "cases")
    lied = sum(bool(one.lied) for one in outcomes) + bool(restart.lost)
    figures.put("lied", lied, "cases")
    figures.put("hung", sum(bool(one.hung) for one in outcomes), "cases")
    figures.put("not_recovered", sum(not one.recovered for one in outcomes), "cases")
