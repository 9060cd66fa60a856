"""Models without a known relevance scale are measured in each space."""

from __future__ import annotations

import numpy as np
import pytest

from services.models.embedding.calibration import MIN_ITEMS, PROBES, Calibrations
from services.models.embedding.relevance import KNOWN, UNCALIBRATED, Relevance, calibrated
from services.models.embedding.vectors import Matrix
from services.runtime.errors import EmbedderUnavailableError


def test_a_measured_model_like_the_known_one_gets_the_same_scale() -> None:
    scale, known = calibrated(0.27), KNOWN["all-MiniLM-L6-v2"]
    assert scale.chunk == pytest.approx(known.chunk, abs=0.01)
    assert scale.fact == pytest.approx(known.fact, abs=0.01)
    assert scale.support == pytest.approx(known.support, abs=0.01)


class Space:
    """A fake space with a given best cosine for each probe."""

    def __init__(self, best: float, error: Exception | None = None) -> None:
        self.embedded = 0
        self._best = best
        self._error = error

    async def embed_queries(self, texts: object) -> Matrix:
        assert texts == PROBES
        if self._error is not None:
            raise self._error
        self.embedded += 1
        return np.zeros((len(PROBES), 2), dtype=np.float32)

    async def best(self, _row: Matrix) -> float:
        return self._best


async def scale_of(scales: Calibrations, space: Space, name: str, items: int) -> Relevance:
    """Returns the scale after the measurement."""
    scales.of(name, "ada", items, space.embed_queries, space.best)
    await scales.wait_until_measured()
    return scales.of(name, "ada", items, space.embed_queries, space.best)


async def test_an_unknown_model_has_no_thresholds_until_it_is_measured() -> None:
    space, scales = Space(0.72), Calibrations()
    assert scales.of("s", "ada", MIN_ITEMS, space.embed_queries, space.best) == UNCALIBRATED
    await scales.wait_until_measured()
    assert scales.of("s", "ada", MIN_ITEMS, space.embed_queries, space.best) == calibrated(0.72)


async def test_an_unknown_model_is_measured_once_until_its_space_has_doubled() -> None:
    space, scales = Space(0.72), Calibrations()
    for items in (MIN_ITEMS, MIN_ITEMS + 1, 2 * MIN_ITEMS - 1):
        assert await scale_of(scales, space, "s", items) == calibrated(0.72)
    assert space.embedded == 1
    await scale_of(scales, space, "s", 2 * MIN_ITEMS)
    await scale_of(scales, space, "other", MIN_ITEMS)
    assert space.embedded == 3


async def test_concurrent_searches_measure_once() -> None:
    space, scales = Space(0.5), Calibrations()
    for _ in range(20):
        scales.of("s", "ada", MIN_ITEMS, space.embed_queries, space.best)
    await scales.wait_until_measured()
    assert space.embedded == 1


async def test_small_spaces_known_models_and_missing_embedders_are_not_measured() -> None:
    space, scales = Space(0.5), Calibrations()
    assert await scale_of(scales, space, "s", MIN_ITEMS - 1) == UNCALIBRATED
    assert scales.of("s", "ada", 10_000, None, space.best) == UNCALIBRATED
    known = scales.of("s", "all-MiniLM-L6-v2", 10_000, space.embed_queries, space.best)
    assert known == KNOWN["all-MiniLM-L6-v2"]
    assert space.embedded == 0


async def test_an_unavailable_model_leaves_the_space_without_thresholds() -> None:
    space, scales = Space(0.5, EmbedderUnavailableError()), Calibrations()
    assert await scale_of(scales, space, "s", MIN_ITEMS) == UNCALIBRATED
