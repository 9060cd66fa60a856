"""The contract of vector stores for searches: order, filters, scores and their parts, separation of spaces."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any
from uuid import uuid4

import pytest

from services.models.embedding.relevance import bend
from services.vector_search.domain import FusionKind, Search, SpaceState, VectorPath
from services.vector_search.store import VectorStore
from tests.oracles.vector.bm25 import FUSED_POOL, full_text_score, fuse, terms_of
from tests.store_suite.vector.builders import (
    EAST,
    MODEL,
    NORTH,
    SPACE,
    UP,
    both,
    contents,
    document,
    meaning,
    scattered,
    towards,
    words,
)


class SearchingSuite:
    """Searches by words, by vector and fused. Subclasses define the fixture `store`."""

    async def test_a_search_of_a_new_space_finds_nothing(self, store: VectorStore) -> None:
        for search in (words("red"), meaning(NORTH), both("red", NORTH)):
            found = await store.search("never", search)
            assert (found.hits, found.revision, found.model) == ([], 0, None)

    async def test_a_space_has_the_state_of_its_last_write(self, store: VectorStore) -> None:
        assert await store.space_state(SPACE) == SpaceState(0, True)
        await store.upsert(SPACE, MODEL, [document("d", "red")])
        assert await store.space_state(SPACE) == SpaceState(1, True, MODEL)
        await store.delete_document(SPACE, "d")
        assert await store.space_state(SPACE) == SpaceState(2, True)

    async def test_hits_contain_their_chunk_and_its_document(self, store: VectorStore) -> None:
        new = document("d", "one", "two", title="Title", source="origin", metadata={"k": "v"})
        await store.upsert(SPACE, MODEL, [new])
        (hit,) = (await store.search(SPACE, words("two"))).hits
        chunk = hit.chunk
        assert (chunk.id, chunk.document_id, chunk.ordinal) == (new.chunks[1].id, "d", 1)
        assert (chunk.title, chunk.source, chunk.metadata) == ("Title", "origin", {"k": "v"})
        assert (chunk.start_char, chunk.end_char, chunk.content) == (4, 7, "two")
        assert chunk.page == 0

    async def test_hits_and_stored_chunks_contain_the_page(self, store: VectorStore) -> None:
        new = document("d", "one", "two")
        paged = tuple(
            replace(chunk, page=page) for chunk, page in zip(new.chunks, (3, 5), strict=True)
        )
        await store.upsert(SPACE, MODEL, [replace(new, chunks=paged)])
        (hit,) = (await store.search(SPACE, words("two"))).hits
        assert hit.chunk.page == 5
        assert [chunk.page for chunk in await store.get_chunks(SPACE, [new.chunks[0].id])] == [3]

    async def test_a_vector_search_orders_by_cosine(self, store: VectorStore) -> None:
        new = document("d", "n", "e", "ne", at=[NORTH, EAST, (1, 1, 0)])
        await store.upsert(SPACE, MODEL, [new])
        found = await store.search(SPACE, meaning(NORTH))
        assert contents(found) == ["n", "ne", "e"]
        assert [h.score for h in found.hits] == pytest.approx([1, math.sqrt(0.5), 0], abs=1e-3)
        assert [h.scores.vector_rank for h in found.hits] == [1, 2, 3]
        assert all(hit.scores.text is None for hit in found.hits)
        assert found.path is VectorPath.EXACT

    async def test_equal_scores_are_ordered_by_id(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document(f"d{i}", "twin") for i in range(7)])
        for search in (words("twin"), meaning(NORTH), both("twin", NORTH)):
            ids = [hit.chunk.id for hit in (await store.search(SPACE, search)).hits]
            assert ids == sorted(ids)
            assert len(ids) == 7

    async def test_a_search_returns_no_more_hits_than_the_limit(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document(f"d{i}", "twin") for i in range(5)])
        for search in (
            words("twin", limit=2),
            meaning(NORTH, limit=2),
            both("twin", NORTH, limit=2),
        ):
            assert len((await store.search(SPACE, search)).hits) == 2

    async def test_hits_below_min_score_are_left_out(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "n", "e", at=[NORTH, EAST])])
        found = await store.search(SPACE, meaning(NORTH, min_score=0.5))
        assert contents(found) == ["n"]
        (hit,) = (await store.search(SPACE, words("n"))).hits
        for min_score, expected in ((hit.score, ["n"]), (hit.score + 1e-9, []), (100.0, [])):
            assert contents(await store.search(SPACE, words("n", min_score=min_score))) == expected

    async def test_filters_by_document_and_metadata_apply_to_every_search(
        self, store: VectorStore
    ) -> None:
        await store.upsert(
            SPACE,
            MODEL,
            [
                document("a", "twin a", metadata={"team": "x", "tags": ["p", "q"]}),
                document("b", "twin b", metadata={"team": "y", "tags": ["q"]}),
                document("c", "twin c"),
            ],
        )
        cases: list[tuple[dict[str, Any], list[str]]] = [
            ({"document_ids": ("a", "c")}, ["twin a", "twin c"]),
            ({"metadata": {"team": "y"}}, ["twin b"]),
            ({"metadata": {"tags": ["q"]}}, ["twin a", "twin b"]),
            ({"metadata": {"tags": ["q"]}, "document_ids": ("a",)}, ["twin a"]),
            ({"metadata": {"unknown": 1}}, []),
            ({"document_ids": ("unknown",)}, []),
        ]
        for given, expected in cases:
            for search in (
                words("twin", **given),
                meaning(NORTH, **given),
                both("twin", NORTH, **given),
            ):
                assert sorted(contents(await store.search(SPACE, search))) == expected

    async def test_weighted_fusion_adds_the_cosine_and_the_normalized_text_score(
        self, store: VectorStore
    ) -> None:
        new = document("d", "red red", "red moon", "sun", at=[EAST, (1, 1, 0), NORTH])
        await store.upsert(SPACE, MODEL, [new])
        found = await store.search(SPACE, both("red", NORTH, text_weight=0.4))
        assert sorted(contents(found)) == ["red moon", "red red", "sun"]
        full = full_text_score(terms_of("red"), [terms_of(one.content) for one in new.chunks])
        for hit in found.hits:
            parts = hit.scores
            assert parts.vector is not None
            assert parts.text is not None
            assert parts.vector_fused is not None
            assert parts.text_fused is not None
            assert parts.vector_fused == pytest.approx(max(parts.vector, 0))
            assert parts.text_fused == pytest.approx(parts.text / full)
            fused = 0.6 * parts.vector_fused + 0.4 * parts.text_fused
            assert hit.score == pytest.approx(bend(fused))
        assert {h.chunk.content: h.scores.text_rank for h in found.hits}["sun"] is None

    async def test_reciprocal_rank_fusion_adds_weighted_ranks(self, store: VectorStore) -> None:
        new = document("d", "red red", "red moon", "sun", at=[EAST, (1, 1, 0), NORTH])
        await store.upsert(SPACE, MODEL, [new])
        search = both("red", NORTH, text_weight=0.5, fusion=FusionKind.RECIPROCAL_RANK)
        found = {hit.chunk.content: hit for hit in (await store.search(SPACE, search)).hits}
        assert found["red red"].score == pytest.approx(0.5 / 63 + 0.5 / 61)
        assert found["red moon"].score == pytest.approx(0.5 / 62 + 0.5 / 62)
        assert found["sun"].score == pytest.approx(0.5 / 61)

    @pytest.mark.parametrize("fusion", [FusionKind.WEIGHTED_SCORE, FusionKind.RECIPROCAL_RANK])
    async def test_fused_hits_are_the_best_of_all_candidates_with_both_scores(
        self, store: VectorStore, fusion: FusionKind
    ) -> None:
        new = scattered(400)
        await store.upsert(SPACE, MODEL, new)
        query, ids = towards((1, 1, 0)), [document.chunks[0].id for document in new]
        _, scores = await store.score_chunks(SPACE, "red moon", query, ids, 0.3)
        corpus = [terms_of(document.chunks[0].content) for document in new]
        full = full_text_score(terms_of("red moon"), corpus)
        vector = {score.chunk_id: score.vector for score in scores if score.vector is not None}
        text = {score.chunk_id: score.text for score in scores if score.text}
        for limit, weight in product((1, 10, 50), (0.0, 0.3, 0.9, 1.0)):
            search = both("red moon", (1, 1, 0), limit=limit, text_weight=weight, fusion=fusion)
            found = (await store.search(SPACE, search)).hits
            fused = fuse(
                vector, text, full=full, pool=FUSED_POOL, text_weight=weight, fusion=fusion
            )
            best = sorted(fused, key=lambda key: (-fused[key][0], key))[:limit]
            assert [hit.chunk.id for hit in found] == best
            for hit in found:
                score, parts = fused[hit.chunk.id]
                assert hit.score == pytest.approx(score)
                assert (hit.scores.vector, hit.scores.text or 0) == (parts.vector, parts.text)
                assert (hit.scores.vector_rank, hit.scores.text_rank) == (
                    parts.vector_rank,
                    parts.text_rank,
                )

    async def test_a_text_weight_of_1_uses_only_text_and_of_0_only_vectors(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "red", "sun", at=[UP, NORTH])])
        text = await store.search(SPACE, both("red", NORTH, text_weight=1.0))
        vector = await store.search(SPACE, both("red", NORTH, text_weight=0.0))
        assert (contents(text), contents(vector)) == (["red"], ["sun"])

    async def test_fusion_without_a_vector_ranks_by_text_only(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "red red moon", "moon")])
        search = Search(text="red moon", fusion=FusionKind.WEIGHTED_SCORE)
        found = await store.search(SPACE, search)
        assert contents(found) == ["red red moon", "moon"]
        corpus = [terms_of(text) for text in contents(found)]
        full = full_text_score(terms_of("red moon"), corpus)
        for hit in found.hits:
            assert hit.scores.text is not None
            assert hit.score == pytest.approx(bend(hit.scores.text / full))
        assert all(hit.scores.vector is None for hit in found.hits)
        assert found.path is VectorPath.NOT_RUN

    async def test_a_vector_of_another_model_or_dimension_is_not_used(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "red")])
        for vector in (towards(NORTH, "other"), towards((1, 0))):  # type: ignore[arg-type]
            found = await store.search(SPACE, Search(vector=vector))
            assert (found.hits, found.path, found.model) == ([], VectorPath.NOT_RUN, MODEL)
            fused = await store.search(
                SPACE, Search(vector=vector, text="red", fusion=FusionKind.WEIGHTED_SCORE)
            )
            assert (contents(fused), fused.path) == (["red"], VectorPath.NOT_RUN)

    async def test_chunks_are_scored_exactly_in_the_order_asked_for(
        self, store: VectorStore
    ) -> None:
        new = document("d", "red", "moon", at=[EAST, NORTH])
        await store.upsert(SPACE, MODEL, [new])
        ids = [new.chunks[1].id, str(uuid4()), new.chunks[0].id]
        model, scores = await store.score_chunks(SPACE, "red", towards(EAST), ids, 0.3)
        assert model == MODEL
        assert [score.chunk_id for score in scores] == [ids[0], ids[2]]
        assert [score.vector for score in scores] == pytest.approx([0, 1], abs=1e-3)
        searched = await store.search(SPACE, words("red"))
        assert [score.text for score in scores] == pytest.approx([0, searched.hits[0].scores.text])

    async def test_chunks_are_read_in_the_order_asked_for(self, store: VectorStore) -> None:
        new = document("d", "red", "moon")
        await store.upsert(SPACE, MODEL, [new])
        ids = [new.chunks[1].id, str(uuid4()), new.chunks[0].id]
        found = await store.get_chunks(SPACE, ids)
        assert [chunk.content for chunk in found] == ["moon", "red"]

    async def test_chunks_of_another_space_are_never_returned(self, store: VectorStore) -> None:
        theirs = document("d", "their secret", space="theirs")
        await store.upsert("theirs", MODEL, [theirs])
        await store.upsert(SPACE, MODEL, [document("mine", "my own")])
        ids = [theirs.chunks[0].id]
        for search in (words("secret"), meaning(NORTH), both("secret", NORTH)):
            assert "their secret" not in contents(await store.search(SPACE, search))
        assert contents(await store.search(SPACE, words("secret", document_ids=("d",)))) == []
        assert await store.get_chunks(SPACE, ids) == []
        assert (await store.score_chunks(SPACE, "secret", towards(NORTH), ids, 0.3))[1] == []
