"""The findings of an episode on their way into the graph: read before its facts, written with it.

read = await reader.read(space, passage)      # asks the language model; nothing is written
...                                           # the pass for entities and facts
await read.write(writer)                      # in the transaction that makes the episode known
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.graph_query.domain import Passage
from services.graph_query.findings.domain import FindingCounts, GivenFinding
from services.graph_query.findings.extraction import FindingExtractor
from services.graph_query.findings.intake import FindingIntake
from services.graph_query.findings.neo4j_writes import add_findings
from services.graph_query.neo4j_writer import SpaceWriter


@dataclass(frozen=True, slots=True)
class ReadFindings:
    """An episode's findings and the model of their vectors, "" without any."""

    findings: Sequence[GivenFinding] = ()
    model: str = ""

    async def write(self, writer: SpaceWriter) -> FindingCounts:
        """Adds them; the episode must be there within the same transaction. Again, it changes nothing."""
        if not self.findings:
            return FindingCounts()
        return (await add_findings(writer, self.findings, self.model)).counts()


class FindingReader:
    """Reads episodes' findings with a language model and gives them vectors."""

    def __init__(self, extractor: FindingExtractor, intake: FindingIntake) -> None:
        self._extractor = extractor
        self._intake = intake

    async def read(self, space: str, passage: Passage) -> ReadFindings:
        """The passage's findings. LanguageModelUnavailable when the model gives no answer."""
        found = await self._extractor.extract(space, passage)
        return ReadFindings(*await self._intake.embedded(space, found))
