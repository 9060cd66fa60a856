"""Reading episodes with a language model through Graphiti, which is loaded when first needed."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from services.graph_query.domain import Passage
from services.graph_query.extracted import Reading
from services.graph_query.graphiti.known import KnownGraph
from services.graph_query.ontology.domain import Ontology
from services.models.embedder import Embedder
from services.models.language import LanguageModel

if TYPE_CHECKING:
    from services.graph_query.graphiti.session import Session

# Graphiti reads these when it is imported: it must report to nobody and apply no stray `.env`.
_QUIET = {"GRAPHITI_TELEMETRY_ENABLED": "false", "PYTHON_DOTENV_DISABLED": "true"}


class GraphitiReader:
    """An `EpisodeReader`. It writes nothing: `known` gives it a space, and vectors' model, to compare with."""

    def __init__(self, language: LanguageModel, known: Callable[[str, str], KnownGraph]) -> None:
        self._language = language
        self._known = known

    async def read(
        self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
    ) -> Reading:
        """What the passage says. LanguageModelUnavailable, or what a store or an embedder raises."""
        session = await asyncio.to_thread(load_session)
        known = self._known(space, embedder.model)
        reading = session(space, known, self._language, embedder)
        return await reading.read(passage, ontology)


def load_session() -> type[Session]:
    """Loads Graphiti, which takes a second: what reads with it."""
    os.environ.update(_QUIET)
    with warnings.catch_warnings():
        # Its classes are written in an older style of pydantic's.
        warnings.simplefilter("ignore", DeprecationWarning)
        from services.graph_query.graphiti.session import Session  # noqa: PLC0415

    return Session
