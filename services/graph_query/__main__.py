"""`python -m services.graph_query` serves."""

from __future__ import annotations

from services.graph_query import app
from services.graph_query.neo4j.schema import SchemaError
from services.graph_query.settings import GraphSettings
from services.models.embedding.settings import EmbeddingSettings
from services.models.language.settings import LanguageModelSettings
from services.models.reranking.settings import RerankerSettings
from services.runtime.loop import run
from services.runtime.read_settings import read_settings
from services.runtime.settings import RuntimeSettings
from services.runtime.telemetry import configure_telemetry


def main() -> None:
    """Builds the settings and serves until stopped."""
    runtime = read_settings(RuntimeSettings)
    configure_telemetry(runtime, "graph_query")
    serving = app.run(
        read_settings(GraphSettings),
        runtime,
        read_settings(EmbeddingSettings),
        read_settings(RerankerSettings),
        read_settings(LanguageModelSettings),
    )
    try:
        run(serving)
    except SchemaError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
