"""The command line of benchmarks and evaluations: names, arguments, exit codes, clean termination on signals."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import cast

from tests.benchmarks.figures import note

SEED = 1
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

# Evaluation data is in a folder next to the project, never in it.
_SHARED = Path(__file__).parents[3] / "shared" / "eval"


class UsageError(Exception):
    """The command has invalid arguments; the message says what to change."""


class MeasureError(Exception):
    """The measurement failed, so there is no figure to print."""


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of a command."""

    name: str
    data: Path | None = None
    mode: str = "all"
    queries: int | None = None
    seed: int = SEED

    def folder(self) -> Path:
        """Returns the data folder. Raises UsageError if none was given or it does not exist."""
        if self.data is None:
            raise UsageError(f"{self.name} needs a data folder: DATA=<folder>, or --data <folder>")
        if not self.data.is_dir():
            raise UsageError(f"{self.data} is not a folder")
        return self.data


Command = Callable[[Options], Awaitable[None]]


def run(
    program: str, commands: Mapping[str, str], arguments: Sequence[str], shared: Path = _SHARED
) -> int:
    """Runs the command that `arguments` name; returns the exit code.

    `commands` has, for each name, the module with the coroutine `run(options)`, which is imported when needed. A
    module's `SHARED` is the data set in `shared` that is used by default.
    """
    try:
        options = _parse(program, commands, arguments)
        module = importlib.import_module(commands[options.name])
        asyncio.run(_until_signal(_command(module)(_with_data(options, module, shared))))
    except UsageError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except MeasureError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_FAILED
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"{program}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0


def _command(module: ModuleType) -> Command:
    return cast("Command", module.run)


def _with_data(options: Options, module: ModuleType, shared: Path) -> Options:
    named: str | None = getattr(module, "SHARED", None)
    if options.data is not None or named is None or not (shared / named).is_dir():
        return options
    note(f"no --data: measuring on {named}, which lies beside the project")
    return replace(options, data=shared / named)


async def _until_signal(work: Awaitable[None]) -> None:
    """Awaits `work`; SIGTERM cancels it like Ctrl-C, so that the processes it started are stopped."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await work


def _parse(program: str, commands: Mapping[str, str], arguments: Sequence[str]) -> Options:
    known = ", ".join(sorted(commands))
    parser = _Parser(prog=program, add_help=True, epilog=f"names: {known}")
    parser.add_argument("name", nargs="?", help="what to measure")
    parser.add_argument("--data", type=Path, help="folder of the data set")
    parser.add_argument("--mode", default="all", help="one mode of several; all by default")
    parser.add_argument("--queries", type=int, help="how many queries, to shorten a run")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of what is random")
    given = parser.parse_args(arguments)
    if given.name not in commands:
        said = f"no measure is called {given.name!r}" if given.name else "name what to measure"
        raise UsageError(f"{said}; there are: {known}")
    if given.queries is not None and given.queries < 1:
        raise UsageError("--queries must be at least 1")
    return Options(given.name, given.data, given.mode, given.queries, given.seed)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(message)
