"""Texts are embedded in parts of a few seconds: fewer at a time on a slow machine, from one text upwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from services.agent_orchestrator.jobs.embedding_pace import MAX_TEXTS, EmbeddingPace
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.embedding.vectors import Matrix
from services.models.errors import EmbedderUnavailable
from tests.stubs.embedders import StubEmbedder

MANY = [f"text {number}" for number in range(2 * MAX_TEXTS)]


class SlowEmbedder(StubEmbedder):
    """Takes its time for each text, and counts the calls that were cancelled."""

    seconds: float = 0.05
    cancelled: int = 0

    async def embed(self, texts: Sequence[str]) -> Matrix:
        try:
            await asyncio.sleep(self.seconds * len(texts))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return await super().embed(texts)


async def embed_all(pace: EmbeddingPace, embedder: StubEmbedder, texts: Sequence[str]) -> int:
    count = 0
    while count < len(texts):
        count += len(await pace.embed_next(embedder, texts[count:]))
    return count


async def test_parts_grow_from_one_text_to_the_maximum_while_the_embedder_is_fast() -> None:
    embedder = StubEmbedder()
    assert await embed_all(EmbeddingPace(Retries(0)), embedder, MANY) == len(MANY)
    sizes = [len(batch) for batch in embedder.batches]
    assert sizes[:9] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert embedder.texts == MANY


async def test_a_part_that_takes_too_long_is_divided_and_what_is_done_is_kept() -> None:
    pace, embedder = EmbeddingPace(Retries(0), part_seconds=0.3), SlowEmbedder()
    assert await embed_all(pace, embedder, MANY[:20]) == 20
    assert embedder.cancelled > 0
    assert embedder.texts == MANY[:20]  # each text once, in order


async def test_a_single_slow_text_has_more_time_than_a_part() -> None:
    pace, embedder = EmbeddingPace(Retries(0), part_seconds=0.01, text_seconds=60), SlowEmbedder()
    embedder.seconds = 0.1
    assert await embed_all(pace, embedder, MANY[:3]) == 3


async def test_an_embedder_that_is_stuck_at_one_text_is_a_reason_to_wait() -> None:
    pace, embedder = EmbeddingPace(Retries(0), text_seconds=0.01), StubEmbedder(stuck=True)
    with pytest.raises(WaitingError, match="embedding one text has taken more than"):
        await pace.embed_next(embedder, MANY)


async def test_an_outage_makes_parts_smaller_and_is_bridged_if_it_is_short() -> None:
    pace, embedder = EmbeddingPace(Retries(5)), StubEmbedder()
    await embed_all(pace, embedder, MANY)
    embedder.failures = 1
    await pace.embed_next(embedder, MANY)
    embedder.away = True
    with pytest.raises(EmbedderUnavailable):
        await EmbeddingPace(Retries(0)).embed_next(embedder, MANY)


async def test_single_texts_say_nothing_about_the_speed_of_many() -> None:
    pace, embedder = EmbeddingPace(Retries(0)), StubEmbedder()
    for text in MANY[:20]:
        await pace.embed_next(embedder, [text])
    assert pace.size(embedder) == 2


async def test_each_model_has_a_pace_of_its_own() -> None:
    pace, fast, other = EmbeddingPace(Retries(0)), StubEmbedder("fast"), StubEmbedder("other")
    await embed_all(pace, fast, MANY)
    assert (pace.size(fast), pace.size(other)) == (MAX_TEXTS, 1)
