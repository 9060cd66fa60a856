"""The findings of an episode: read before its facts, written in the transaction that writes the episode."""

from __future__ import annotations

from collections.abc import Sequence

from services.graph_query.domain import Passage
from services.graph_query.findings.domain import GivenFinding
from services.graph_query.findings.extraction import FindingExtractor
from services.graph_query.findings.intake import with_vectors
from services.models.embedder import Embedder


class FindingReader:
    """Reads episodes' findings with a language model and gives them vectors. Nothing is written."""

    def __init__(self, extractor: FindingExtractor) -> None:
        self._extractor = extractor

    async def read(
        self, space: str, passage: Passage, embedder: Embedder
    ) -> Sequence[GivenFinding]:
        """The passage's findings with the embedder's vectors.

        LanguageModelUnavailable when the model gives no answer, or what the embedder raises.
        """
        found = await self._extractor.extract(space, passage)
        if not found:
            return found
        return with_vectors(found, await embedder.embed([one.fields.statement for one in found]))
