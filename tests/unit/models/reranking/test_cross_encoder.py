"""The local cross-encoder: scores by meaning, independent of the batch, cancelable, and clear failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.models.errors import RerankerUnavailable
from services.models.local.model_files import MS_MARCO_MINILM
from services.models.reranking import cross_encoder
from services.models.reranking.cross_encoder import CrossEncoder

QUESTION = "Who signed the lease of the lighthouse?"
PASSAGES = [
    "The lease of the lighthouse was signed by Ingrid Moe in May.",
    "The lighthouse has a red roof and a spiral staircase.",
    "Rye bread needs a day to ferment.",
]


@pytest.fixture
async def encoder(model_folder: Path) -> AsyncIterator[CrossEncoder]:
    encoder = CrossEncoder(model_folder, workers=2)
    yield encoder
    await encoder.close()


async def test_a_passage_that_answers_ranks_above_one_on_the_subject_and_one_on_another(
    encoder: CrossEncoder,
) -> None:
    answers, subject, other = await encoder.score(QUESTION, PASSAGES)
    assert answers > 5
    assert answers > subject + 5
    assert other < -10


async def test_a_pairs_score_does_not_depend_on_the_other_pairs(encoder: CrossEncoder) -> None:
    together = await encoder.score_pairs([(QUESTION, one) for one in PASSAGES * 20])
    alone = [(await encoder.score(QUESTION, [one]))[0] for one in PASSAGES]
    assert together == pytest.approx(alone * 20, abs=0.1)


async def test_without_passages_nothing_loads(tmp_path: Path) -> None:
    idle = CrossEncoder(tmp_path / "none", workers=1)
    assert await idle.score(QUESTION, []) == []
    assert not (tmp_path / "none").exists()
    await idle.close()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=st.lists(st.tuples(st.text(max_size=200), st.text(max_size=400)), max_size=4))
async def test_any_text_has_a_finite_score(
    encoder: CrossEncoder, pairs: list[tuple[str, str]]
) -> None:
    scores = await encoder.score_pairs(pairs)
    assert len(scores) == len(pairs)
    assert all(-20 < score < 20 for score in scores)


async def test_a_question_and_a_passage_beyond_the_window_are_both_read_in_part(
    encoder: CrossEncoder,
) -> None:
    long_question = f"{QUESTION} {'and so on ' * 1_000}"
    [answers, other] = await encoder.score(
        long_question, [f"{PASSAGES[0]} {'The sea is wide. ' * 2_000}", PASSAGES[2]]
    )
    assert answers > other


async def test_a_canceled_call_leaves_the_model_usable(encoder: CrossEncoder) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await encoder.score(QUESTION, [f"{one} {n}" for n in range(2_000) for one in PASSAGES])
    async with asyncio.timeout(5):
        assert len(await encoder.score(QUESTION, PASSAGES)) == 3


async def test_a_short_call_does_not_wait_for_an_earlier_long_one(encoder: CrossEncoder) -> None:
    long = asyncio.create_task(encoder.score(QUESTION, PASSAGES * 200))
    await encoder.score(QUESTION, PASSAGES)
    assert not long.done()
    long.cancel()


async def test_a_closed_model_is_unavailable(model_folder: Path) -> None:
    encoder = CrossEncoder(model_folder, workers=1)
    await encoder.close()
    with pytest.raises(RerankerUnavailable):
        await encoder.score(QUESTION, PASSAGES)


async def test_a_missing_model_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = replace(MS_MARCO_MINILM, digests={"none.onnx": ""})
    monkeypatch.setattr(cross_encoder, "MS_MARCO_MINILM", missing)
    encoder = CrossEncoder(tmp_path, workers=1)
    with pytest.raises(RerankerUnavailable, match=r"none\.onnx is missing"):
        await encoder.score(QUESTION, PASSAGES)
    await encoder.close()
