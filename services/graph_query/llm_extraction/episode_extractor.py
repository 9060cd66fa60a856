"""All that a language model extracts from an episode: findings first, then entities and dated facts."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from services.graph_query.core.domain import Passage
from services.graph_query.episodes.extraction_result import EpisodeExtractor, ExtractionResult
from services.graph_query.llm_extraction.findings import EmbeddedFindingExtractor
from services.graph_query.llm_extraction.graph_reader import GraphReader
from services.graph_query.ontology.domain import Ontology
from services.models.embedding.embedder import Embedder
from services.models.errors import AnswerUnusable, LanguageModelUnavailable, PromptRefused
from services.models.language.model import LanguageModel, Message, Prompt, Role

if TYPE_CHECKING:
    from services.graph_query.llm_extraction.graphiti_session import Session

# Graphiti reads these when it is imported: no telemetry, and no stray `.env`.
_GRAPHITI_ENVIRONMENT = {"GRAPHITI_TELEMETRY_ENABLED": "false", "PYTHON_DOTENV_DISABLED": "true"}


class GraphitiExtractor:
    """An `EpisodeExtractor`. It writes nothing: `known` gives it a space, and vectors' model, to compare with."""

    def __init__(self, language: LanguageModel, known: Callable[[str, str], GraphReader]) -> None:
        self._language = language
        self._known = known

    async def read(
        self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
    ) -> ExtractionResult:
        """What the passage says. LanguageModelUnavailable, or what a store or an embedder raises."""
        session = await asyncio.to_thread(load_session)
        known = self._known(space, embedder.model)
        reading = session(space, known, self._language, embedder)
        return await reading.read(passage, ontology)


def load_session() -> type[Session]:
    """Loads Graphiti, which takes a second: what reads with it."""
    os.environ.update(_GRAPHITI_ENVIRONMENT)
    with warnings.catch_warnings():
        # Its classes are written in an older style of pydantic's.
        warnings.simplefilter("ignore", DeprecationWarning)
        from services.graph_query.llm_extraction.graphiti_session import Session  # noqa: PLC0415

    return Session


_HARMLESS = Prompt(
    [Message(Role.USER, 'Answer with {"ready": true}.')], max_tokens=100, schema={"type": "object"}
)


class LanguageModelExtractor:
    """An `EpisodeExtractor` of both layers."""

    def __init__(
        self, findings: EmbeddedFindingExtractor, facts: EpisodeExtractor, language: LanguageModel
    ) -> None:
        self._findings = findings
        self._facts = facts
        self._language = language

    async def read(
        self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
    ) -> ExtractionResult:
        """What the passage says; nothing is written. AnswerUnusable where the passage may be to blame."""
        try:
            found = await self._findings.read(space, passage, embedder)
            reading = await self._facts.read(space, passage, ontology, embedder)
        except PromptRefused as refused:
            await self._raise(refused)
        return replace(reading, findings=tuple(found))

    async def _raise(self, refused: PromptRefused) -> NoReturn:
        """A model that refuses a harmless prompt too is set up wrongly: no passage is to blame."""
        try:
            await self._language.complete(_HARMLESS)
        except PromptRefused:
            raise LanguageModelUnavailable(refused.cause) from None
        except AnswerUnusable:
            pass  # it took the prompt
        raise refused
