"""The findings of an episode: read before its facts, written in the transaction that writes the episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.graph_query.domain import Passage
from services.graph_query.findings.domain import GivenFinding
from services.graph_query.findings.extraction import FindingExtractor
from services.graph_query.findings.intake import FindingIntake


@dataclass(frozen=True, slots=True)
class ReadFindings:
    """An episode's findings and the model of their vectors, "" without any."""

    findings: Sequence[GivenFinding] = ()
    model: str = ""


class FindingReader:
    """Reads episodes' findings with a language model and gives them vectors. Nothing is written."""

    def __init__(self, extractor: FindingExtractor, intake: FindingIntake) -> None:
        self._extractor = extractor
        self._intake = intake

    async def read(self, space: str, passage: Passage) -> ReadFindings:
        """The passage's findings. LanguageModelUnavailable when the model gives no answer."""
        found = await self._extractor.extract(space, passage)
        return ReadFindings(*await self._intake.embedded(space, found))
