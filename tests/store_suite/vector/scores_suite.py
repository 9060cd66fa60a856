"""The contract of vector stores for scores: one scale for all searches, independent of the limit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.models.embedding.relevance import bend
from services.vector_search.domain import FusionKind, Hit, Search, TextMatch
from services.vector_search.store import VectorStore
from tests.oracles.vector.bm25 import full_text_score, terms_of
from tests.store_suite.vector.builders import (
    EAST,
    MODEL,
    NORTH,
    SPACE,
    UP,
    both,
    document,
    meaning,
    scattered,
    towards,
    words,
)

CHUNKS = 400
LIMITS = (1, 2, 3, 7, 10, 25, 49, 50)
DIRECTIONS = st.sampled_from([NORTH, EAST, UP, (1, 1, 0), (-1, 0.5, 0), (-1, -1, -1)])
# Words of many chunks, of one chunk and of none, a stop word, and the prefix of a word.
TEXTS = st.lists(
    st.sampled_from(["red", "moon", "salt", "tin", "n7", "n70", "n7x", "unknown", "the", "t"]),
    min_size=1,
    max_size=6,
).map(" ".join)


@st.composite
def searches(draw: st.DrawFn) -> Search:
    """Generates searches of any kind, without a limit."""
    text, direction = draw(TEXTS), draw(DIRECTIONS)
    if draw(st.booleans()):
        fusion = draw(st.sampled_from([FusionKind.WEIGHTED_SCORE, FusionKind.RECIPROCAL_RANK]))
        weight = draw(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]))
        return both(text, direction, fusion=fusion, text_weight=weight)
    if draw(st.booleans()):
        return meaning(direction)
    return words(text, match=draw(st.sampled_from(TextMatch)))


async def only_hit(store: VectorStore, search: Search, document_id: str) -> Hit:
    """Returns the only hit in a document."""
    found = (await store.search(SPACE, search)).hits
    (hit,) = (one for one in found if one.chunk.document_id == document_id)
    return hit


class ScoresSuite:
    """Scores of chunks. Subclasses define the fixture `store`."""

    @settings(
        max_examples=80,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(search=searches(), limit=st.sampled_from(LIMITS))
    async def test_the_limit_only_truncates_the_list_and_scores_are_between_0_and_1(
        self, store: VectorStore, search: Search, limit: int
    ) -> None:
        await store.upsert(SPACE, MODEL, scattered(CHUNKS))
        longest = (await store.search(SPACE, replace(search, limit=50))).hits
        assert (await store.search(SPACE, replace(search, limit=limit))).hits == longest[:limit]
        scores = [hit.score for hit in longest]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)

    @pytest.mark.parametrize("text_weight", [0.0, 0.3, 0.5, 1.0])
    async def test_score_chunks_returns_the_scores_of_a_fused_search(
        self, store: VectorStore, text_weight: float
    ) -> None:
        new = scattered(CHUNKS)
        await store.upsert(SPACE, MODEL, new)
        for text, direction in (("red moon", NORTH), ("n7 unknown salt", (1, 1, 0)), ("the", UP)):
            search = both(text, direction, text_weight=text_weight, limit=50)
            hits = (await store.search(SPACE, search)).hits
            assert hits or (text, text_weight) == ("the", 1.0)
            ids = [hit.chunk.id for hit in hits]
            vector = towards(direction)
            _, scores = await store.score_chunks(SPACE, text, vector, ids, text_weight)
            assert [one.chunk_id for one in scores] == ids
            for hit, scored in zip(hits, scores, strict=True):
                assert scored.score == pytest.approx(hit.score)
                assert scored.text_fused == pytest.approx(hit.scores.text_fused)

    async def test_unknown_words_lower_the_score_and_stop_words_do_not(
        self, store: VectorStore
    ) -> None:
        texts = {"a": "red moon", "b": "salt", "c": "tin"}
        await store.upsert(SPACE, MODEL, [document(key, text) for key, text in texts.items()])
        corpus = [terms_of(text) for text in texts.values()]
        plain = await only_hit(store, words("red moon"), "a")
        assert await only_hit(store, words("the red and the moon"), "a") == plain
        more = await only_hit(store, words("red moon unheard"), "a")
        assert more.scores.text == plain.scores.text
        assert more.scores.text is not None
        full = full_text_score(terms_of("red moon unheard"), corpus)
        assert more.score == pytest.approx(bend(more.scores.text / full))
        assert more.score < plain.score

    async def test_the_best_hit_scores_low_when_it_contains_little_of_the_question(
        self, store: VectorStore
    ) -> None:
        """A score measures how much of the question a hit contains, not its rank among hits."""
        await store.upsert(SPACE, MODEL, [document("d", "red", "moon", "salt")])
        part = await only_hit(store, words("red unheard words altogether"), "d")
        whole = await only_hit(store, words("red"), "d")
        assert part.score < 0.5
        assert whole.score > 0.9

    async def test_a_repeated_word_of_the_question_counts_once(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "red moon", "salt")])
        once = await only_hit(store, words("red"), "d")
        assert await only_hit(store, words("red red red"), "d") == once

    async def test_a_score_does_not_depend_on_other_hits(self, store: VectorStore) -> None:
        better, other = document("better", "red red red lamp"), document("other", "red lamp tin")
        await store.upsert(SPACE, MODEL, [better, other, document("c", "salt")])
        for search in (words("red lamp"), both("red lamp", NORTH)):
            found = await only_hit(store, search, "other")
            alone = await only_hit(store, replace(search, document_ids=("other",)), "other")
            assert alone.score == found.score

    async def test_a_last_word_and_its_completions_count_once(self, store: VectorStore) -> None:
        """This holds for any number of completions, and whether or not the last word occurs by itself."""
        texts = {"a": "lamp", "b": "lamplight", "c": "red lampoon", "d": "red", "e": "salt"}
        await store.upsert(SPACE, MODEL, [document(key, text) for key, text in texts.items()])
        corpus = [terms_of(text) for text in texts.values()]
        one_word = full_text_score(terms_of("lamp"), corpus)
        for query, full in (
            ("lamp", one_word),
            ("LAMPL", one_word),
            ("lampo", one_word),
            ("red lampo", full_text_score(terms_of("red lampoon"), corpus)),
            ("red unheard lampo", full_text_score(terms_of("red unheard lampoon"), corpus)),
            ("red lampz", full_text_score(terms_of("red unheard"), corpus)),
        ):
            found = (await store.search(SPACE, words(query, match=TextMatch.PREFIX))).hits
            assert found, query
            for hit in found:
                assert hit.scores.text is not None
                assert hit.score == pytest.approx(bend(hit.scores.text / full)), query
