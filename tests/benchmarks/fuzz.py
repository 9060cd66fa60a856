"""Random and broken requests to every route and RPC: how many end in a way that is not documented, or in a defect."""

from __future__ import annotations

import asyncio

from tests.benchmarks.command import Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar
from tests.fuzz.documented import documented
from tests.fuzz.findings import Findings
from tests.fuzz.rest import RestFuzzer
from tests.fuzz.rpc import RpcFuzzer
from tests.fuzz.system import DIMENSION, Fuzzed, fuzzed

_REST_CASES = 10_000
_GRPC_CASES = 50_000
# Seconds that one route, and one RPC, may take altogether.
_ROUTE_SECONDS = 12.0
_RPC_SECONDS = 15.0
_PARTS = ("rest", "grpc")


async def run(options: Options) -> None:
    """`--queries` shortens a run to a share of the cases: so many over gRPC, a fifth of it over REST."""
    if options.mode not in ("all", *_PARTS):
        raise UsageError(f"--mode takes all, or one of {', '.join(_PARTS)}")
    parts = _PARTS if options.mode == "all" else (options.mode,)
    count = options.queries or _GRPC_CASES
    figures = Figures(options.name)
    found: dict[str, Findings] = {}
    async with fuzzed() as system:
        if "rest" in parts:
            found["rest"] = await _rest(system, options.seed, count * _REST_CASES // _GRPC_CASES)
        if "grpc" in parts:
            found["grpc"] = await _grpc(system, options.seed, count)
        crashes = system.crashes()
    for part, findings in found.items():
        for line in findings.report():
            note(line)
        for status, times in sorted(findings.statuses.items()):
            figures.put(f"{part}_status.{status}", times, "answers")
        figures.put(f"{part}_cases", findings.cases, "requests")
    if crashes:
        note(f"processes crashed {crashes} times")
    undocumented = sum(one.undocumented.total() for one in found.values())
    errors = sum(one.server_errors.total() for one in found.values())
    figures.put("undocumented", undocumented, "answers")
    figures.put("server_errors", errors + crashes, "answers")


async def _rest(system: Fuzzed, seed: int, cases: int) -> Findings:
    fuzzer = RestFuzzer(system.url, system.key, seed=seed)
    with bar("requests to every route", cases) as show:
        await asyncio.to_thread(fuzzer.run, cases, seconds_each=_ROUTE_SECONDS, shown=show)
    return fuzzer.findings


async def _grpc(system: Fuzzed, seed: int, cases: int) -> Findings:
    async with system.channels() as channels:
        fuzzer = RpcFuzzer(channels, system.metadata, documented(), seed=seed, dimension=DIMENSION)
        await fuzzer.warm_up()
        with bar("messages to every RPC", cases) as show:
            await fuzzer.run(cases, seconds_each=_RPC_SECONDS, shown=show)
        slowest = sorted(fuzzer.seconds.items(), key=lambda one: -one[1])
        for name, seconds in slowest[:5]:
            note(f"{name} took {seconds:.0f} s")
    return fuzzer.findings
