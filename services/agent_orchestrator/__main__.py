"""The orchestrator's process: settings, objects, serve."""

from __future__ import annotations

from services.agent_orchestrator.app import Embedders, open_app
from services.agent_orchestrator.settings import AgentSettings
from services.models.cache import CachedEmbedder
from services.models.factory import build_embedder
from services.models.settings import EmbeddingSettings
from services.runtime.loop import run
from services.runtime.server import serve
from services.runtime.settings import RuntimeSettings
from services.runtime.telemetry import configure_telemetry


def build_embedders(settings: EmbeddingSettings) -> Embedders:
    """One model: behind its cache for queries, without for documents."""
    documents = build_embedder(settings.model_copy(update={"cache_entries": 0}))
    if settings.cache_entries == 0:
        return Embedders(queries=documents, documents=documents)
    return Embedders(CachedEmbedder(documents, settings.cache_entries), documents)


async def main() -> None:
    """Serves until told to stop."""
    runtime, settings = RuntimeSettings(), AgentSettings()
    configure_telemetry(runtime, "agent_orchestrator")
    embedders = build_embedders(EmbeddingSettings())
    try:
        async with open_app(settings, runtime, embedders) as app:
            await serve(
                settings=runtime,
                listen=settings.listen,
                services=app.services,
                probes=app.probes,
            )
    finally:
        await embedders.queries.close()


if __name__ == "__main__":
    run(main())
