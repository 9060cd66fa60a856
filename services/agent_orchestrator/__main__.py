"""`python -m services.agent_orchestrator` serves; `--worker` runs jobs; `migrate` brings the schema up to date."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import Any

from services.agent_orchestrator.settings import AgentSettings, SettingError
from services.postgres.migrations import MigrationError
from services.runtime.loop import run
from services.runtime.read_settings import read_settings
from services.runtime.settings import RuntimeSettings
from services.runtime.telemetry import configure_telemetry

USAGE = "usage: python -m services.agent_orchestrator [--worker | migrate [--pre]]"


def main(arguments: list[str]) -> None:
    """Runs the command named by `arguments`; none means serving."""
    work = _work(arguments)
    try:
        run(work)
    except (SettingError, MigrationError) as error:
        raise SystemExit(str(error)) from None


def _work(arguments: list[str]) -> Coroutine[Any, Any, None]:
    runtime, settings = read_settings(RuntimeSettings), read_settings(AgentSettings)
    name = "agent_worker" if arguments == ["--worker"] else "agent_orchestrator"
    configure_telemetry(runtime, name)
    match arguments:
        case []:
            return _serve(settings, runtime)
        case ["--worker"]:
            return _serve_worker(settings, runtime)
        case ["migrate"]:
            return _migrate(settings, pre=False)
        case ["migrate", "--pre"]:
            return _migrate(settings, pre=True)
        case _:
            raise SystemExit(USAGE)


async def _serve(settings: AgentSettings, runtime: RuntimeSettings) -> None:
    # Each command imports only what it needs: a migration should not load gRPC and models.
    from services.agent_orchestrator.server import serve_orchestrator  # noqa: PLC0415

    await serve_orchestrator(settings, runtime)


async def _serve_worker(settings: AgentSettings, runtime: RuntimeSettings) -> None:
    from services.agent_orchestrator.server import serve_worker  # noqa: PLC0415

    await serve_worker(settings, runtime)


async def _migrate(settings: AgentSettings, *, pre: bool) -> None:
    from services.agent_orchestrator.migrate import migrate  # noqa: PLC0415

    await migrate(settings.migrator(), stage="pre" if pre else "post")


if __name__ == "__main__":
    main(sys.argv[1:])
