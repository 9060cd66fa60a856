"""Extracts findings, then entities and dated facts, from an episode with a language model."""

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
    """An `EpisodeExtractor` based on Graphiti.

    It writes nothing; `known` returns the reader of a space for a vectors' model.
    """

    def __init__(self, language: LanguageModel, known: Callable[[str, str], GraphReader]) -> None:
        self._language = language
        self._known = known

    async def read(
        self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
    ) -> ExtractionResult:
        """Extracts entities and facts. Raises LanguageModelUnavailable, or what a store or an embedder raises."""
        session = await asyncio.to_thread(load_session)
        known = self._known(space, embedder.model)
        reading = session(space, known, self._language, embedder)
        return await reading.read(passage, ontology)


def load_session() -> type[Session]:
    """Loads Graphiti, which takes a second, and returns the session class."""
    os.environ.update(_GRAPHITI_ENVIRONMENT)
    with warnings.catch_warnings():
        # Its classes use a deprecated pydantic style.
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
        """Extracts findings and facts; writes nothing. Raises AnswerUnusable if the passage may be the cause."""
        try:
            found = await self._findings.read(space, passage, embedder)
            reading = await self._facts.read(space, passage, ontology, embedder)
        except PromptRefused as refused:
            await self._raise(refused)
        return replace(reading, findings=tuple(found))

    async def _raise(self, refused: PromptRefused) -> NoReturn:
        """Raises the refusal, or LanguageModelUnavailable if the model refuses even a harmless prompt (wrong setup)."""
        try:
            await self._language.complete(_HARMLESS)
        except PromptRefused:
            raise LanguageModelUnavailable(refused.cause) from None
        except AnswerUnusable:
            pass  # The model accepted the prompt.
        raise refused
