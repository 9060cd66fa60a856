"""All that a language model reads in an episode: findings first, then entities and dated facts."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from services.graph_query.domain import Passage
from services.graph_query.episode_intake import EpisodeReader
from services.graph_query.extracted import Reading
from services.graph_query.findings.reading import FindingReader
from services.graph_query.ontology.domain import Ontology
from services.models.embedder import Embedder
from services.models.errors import AnswerUnusable, LanguageModelUnavailable, PromptRefused
from services.models.language import LanguageModel, Message, Prompt, Role

_HARMLESS = Prompt(
    [Message(Role.USER, 'Answer with {"ready": true}.')], max_tokens=100, schema={"type": "object"}
)


class WholeReader:
    """An `EpisodeReader` of both layers."""

    def __init__(
        self, findings: FindingReader, facts: EpisodeReader, language: LanguageModel
    ) -> None:
        self._findings = findings
        self._facts = facts
        self._language = language

    async def read(
        self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
    ) -> Reading:
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
