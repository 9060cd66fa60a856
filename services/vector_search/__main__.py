"""`python -m services.vector_search` serves; with `migrate` it updates the schema."""

from __future__ import annotations

import sys

from services.models.embedding.settings import EmbeddingSettings
from services.postgres.migrations import MigrationError, Stage
from services.runtime.loop import run
from services.runtime.read_settings import read_settings
from services.runtime.settings import RuntimeSettings
from services.runtime.telemetry import configure_telemetry
from services.vector_search import app
from services.vector_search.database import migrate
from services.vector_search.settings import VectorSettings


def main(arguments: list[str]) -> None:
    """Runs the command named by `arguments`; without arguments it serves."""
    runtime = read_settings(RuntimeSettings)
    settings = read_settings(VectorSettings)
    configure_telemetry(runtime, "vector_search")
    match arguments:
        case []:
            run(app.run(settings, runtime, read_settings(EmbeddingSettings)))
        case ["migrate"]:
            _migrate(settings, "post")
        case ["migrate", "--pre"]:
            _migrate(settings, "pre")
        case _:
            raise SystemExit("usage: python -m services.vector_search [migrate [--pre]]")


def _migrate(settings: VectorSettings, stage: Stage) -> None:
    try:
        run(migrate(settings.migrator(), stage=stage))
    except MigrationError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main(sys.argv[1:])
