"""Given findings on their way into the store: checked, and given vectors where they have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.graph_query.findings.domain import FindingCounts, GivenFinding
from services.graph_query.findings.store import FindingStore
from services.graph_query.names import name_key
from services.models.embedder import Embedder
from services.runtime.errors import EmbedderUnavailableError, FieldError, InvalidFieldError


class FindingIntake:
    """Adds findings to a space."""

    def __init__(self, store: FindingStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def add(self, space: str, findings: Sequence[GivenFinding], model: str) -> FindingCounts:
        """Adds findings. InvalidFieldError for vectors that the index cannot take, or without their model.

        Without the embedder findings are added without vectors.
        """
        for place, finding in enumerate(findings):
            self._check(f"findings[{place}]", finding, model)
        ready, model = await self.embedded(space, findings, model)
        return await self._store.add_findings(space, ready, model)

    async def embedded(
        self, space: str, findings: Sequence[GivenFinding], model: str = ""
    ) -> tuple[Sequence[GivenFinding], str]:
        """The findings with vectors, and the vectors' model; as they are where no vector can be had."""
        bare = [place for place, finding in enumerate(findings) if not finding.embedding]
        if not bare:
            return findings, model
        held = model or (await self._store.finding_state(space)).model
        if held not in ("", self._embedder.model):
            return findings, model
        try:
            matrix = await self._embedder.embed([findings[n].fields.statement for n in bare])
        except EmbedderUnavailableError:
            return findings, model
        ready = list(findings)
        for place, row in zip(bare, matrix, strict=True):
            vector = tuple(float(value) for value in row)
            ready[place] = replace(findings[place], embedding=vector)
        return ready, self._embedder.model

    def _check(self, place: str, finding: GivenFinding, model: str) -> None:
        if finding.embedding:
            self._check_vector(f"{place}.embedding", finding.embedding, model)
        keys = [name_key(metric.name) for metric in finding.fields.metrics]
        if len(set(keys)) < len(keys):
            field = f"{place}.outcome.metrics"
            raise InvalidFieldError(FieldError(field, "must name each metric once"))

    def _check_vector(self, field: str, vector: Sequence[float], model: str) -> None:
        if not model:
            raise InvalidFieldError(FieldError("embedding_model", "is needed for vectors"))
        dimension = self._embedder.dimension
        if len(vector) != dimension:
            raise InvalidFieldError(FieldError(field, f"must have {dimension} values"))
        if not any(vector):
            raise InvalidFieldError(FieldError(field, "must not be all zeros"))
