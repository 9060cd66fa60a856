"""Checks given findings, embeds those without vectors, and stores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.graph_query.core.names import name_key
from services.graph_query.core.store import MAX_DIMENSION
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.findings.domain import FindingCounts, FindingStore, GivenFinding
from services.models.embedding.vectors import Matrix
from services.runtime.errors import FieldError, InvalidFieldError, WrongStateError


class FindingIntake:
    """Adds findings to a space."""

    def __init__(self, store: FindingStore, models: SpaceModels) -> None:
        self._store = store
        self._models = models

    async def add(self, space: str, findings: Sequence[GivenFinding], model: str) -> FindingCounts:
        """Adds findings.

        Raises InvalidFieldError for vectors that the index cannot store, and for vectors without a model name. If the
        embedder is unavailable, findings are added without vectors.
        """
        given = next((one.embedding for one in findings if one.embedding), ())
        if given and not model:
            raise InvalidFieldError(FieldError("embedding_model", "is needed for vectors"))
        length = (await self._models.length(space, model) or len(given)) if given else 0
        for place, finding in enumerate(findings):
            _check(f"findings[{place}]", finding, length)
        ready, model = await self._embedded(space, findings, model if given else "", length)
        try:
            return await self._store.add_findings(space, ready, model)
        except WrongStateError:
            if given:
                raise
        # The space changed its model after it was read here.
        return await self._store.add_findings(space, findings, "")

    async def _embedded(
        self, space: str, findings: Sequence[GivenFinding], model: str, length: int
    ) -> tuple[Sequence[GivenFinding], str]:
        """Returns the findings with vectors, and the vectors' model; unchanged if no vectors are available.

        `model` and `length` are those of the given vectors.
        """
        bare = [place for place, finding in enumerate(findings) if not finding.embedding]
        if not bare:
            return findings, model
        made = await self._models.embed(space, [findings[n].fields.statement for n in bare], model)
        if made is None or length not in (0, made.rows.shape[1]):
            return findings, model
        ready = dict(zip(bare, with_vectors([findings[n] for n in bare], made.rows), strict=True))
        return [ready.get(place, finding) for place, finding in enumerate(findings)], made.model


def with_vectors(findings: Sequence[GivenFinding], rows: Matrix) -> list[GivenFinding]:
    """Returns each finding with its row as the vector."""
    return [
        replace(finding, embedding=tuple(float(value) for value in row))
        for finding, row in zip(findings, rows, strict=True)
    ]


def _check(place: str, finding: GivenFinding, length: int) -> None:
    if finding.embedding:
        _check_vector(f"{place}.embedding", finding.embedding, length)
    keys = [name_key(metric.name) for metric in finding.fields.metrics]
    if len(set(keys)) < len(keys):
        field = f"{place}.outcome.metrics"
        raise InvalidFieldError(FieldError(field, "must name each metric once"))


def _check_vector(field: str, vector: Sequence[float], length: int) -> None:
    if len(vector) > MAX_DIMENSION:
        raise InvalidFieldError(FieldError(field, f"must have at most {MAX_DIMENSION} values"))
    if len(vector) != length:
        raise InvalidFieldError(FieldError(field, f"must have {length} values"))
    if not any(vector):
        raise InvalidFieldError(FieldError(field, "must not be all zeros"))
