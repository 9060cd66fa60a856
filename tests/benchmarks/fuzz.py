"""Fuzzes every route and RPC, and counts undocumented outcomes and server errors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import closing

from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar
from tests.fuzz.documented import documented
from tests.fuzz.findings import Findings
from tests.fuzz.rest import RestFuzzer
from tests.fuzz.rpc import RpcFuzzer
from tests.fuzz.seeding import SeedingError, load
from tests.fuzz.system import DIMENSION, Fuzzed, fuzzed

_REST_CASES = 10_000
_GRPC_CASES = 50_000
# The total seconds for one route, and for one RPC.
_ROUTE_SECONDS = 12.0
_RPC_SECONDS = 15.0
_PARTS = ("rest", "grpc")


async def run(options: Options) -> None:
    """Fuzzes both interfaces; `--queries` is the number of cases over gRPC, of which REST gets a fifth."""
    if options.mode not in ("all", *_PARTS):
        raise UsageError(f"--mode takes all, or one of {', '.join(_PARTS)}")
    parts = _PARTS if options.mode == "all" else (options.mode,)
    count = options.queries or _GRPC_CASES
    figures = Figures(options.name)
    found: dict[str, Findings] = {}
    silent: list[str] = []
    async with fuzzed() as system:
        await _load(system)
        if "rest" in parts:
            found["rest"] = await _rest(
                system, options.seed, count * _REST_CASES // _GRPC_CASES, silent
            )
        if "grpc" in parts:
            found["grpc"] = await _grpc(system, options.seed, count, silent)
        crashes = system.crashes()
    _put(figures, found)
    for name in silent:
        note(f"never found anything: {name}")
    figures.put("silent_searches", len(silent), "searches")
    if crashes:
        note(f"processes crashed {crashes} times")
    undocumented = sum(one.undocumented.total() for one in found.values())
    errors = sum(one.server_errors.total() for one in found.values())
    figures.put("undocumented", undocumented, "answers")
    figures.put("server_errors", errors + crashes, "answers")


async def _load(system: Fuzzed) -> None:
    try:
        await load(system.url, system.key)
    except SeedingError as error:
        raise MeasureError(f"there is nothing to find: {error}") from error


async def _load_again(system: Fuzzed) -> None:
    """Loads again after the warm-up, which also deletes things; its other changes may make the load fail."""
    try:
        await load(system.url, system.key)
    except SeedingError as error:
        note(f"there may be nothing to find: {error}")


def _put(figures: Figures, found: Mapping[str, Findings]) -> None:
    for part, findings in found.items():
        for line in findings.report():
            note(line)
        for status, times in sorted(findings.statuses.items()):
            figures.put(f"{part}_status.{status}", times, "answers")
        figures.put(f"{part}_cases", findings.cases, "requests")


async def _rest(system: Fuzzed, seed: int, cases: int, silent: list[str]) -> Findings:
    with closing(RestFuzzer(system.url, system.key, seed=seed)) as fuzzer:
        await asyncio.to_thread(fuzzer.warm_up, seconds_each=_ROUTE_SECONDS)
        await _load_again(system)
        with bar("requests to every route", cases) as show:
            await asyncio.to_thread(fuzzer.run, cases, seconds_each=_ROUTE_SECONDS, shown=show)
    silent += fuzzer.silent_searches()
    return fuzzer.findings


async def _grpc(system: Fuzzed, seed: int, cases: int, silent: list[str]) -> Findings:
    async with system.channels() as channels:
        fuzzer = RpcFuzzer(channels, system.metadata, documented(), seed=seed, dimension=DIMENSION)
        await fuzzer.warm_up()
        await _load_again(system)
        with bar("messages to every RPC", cases) as show:
            await fuzzer.run(cases, seconds_each=_RPC_SECONDS, shown=show)
        silent += fuzzer.silent_searches()
        slowest = sorted(fuzzer.seconds.items(), key=lambda one: -one[1])
        for name, seconds in slowest[:5]:
            note(f"{name} took {seconds:.0f} s")
    return fuzzer.findings
