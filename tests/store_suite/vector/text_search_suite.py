"""The contract of vector stores for searches by words: matching, order, phrases and prefixes."""

from __future__ import annotations

import pytest

from services.models.embedding.relevance import bend
from services.vector_search.domain import TextMatch
from services.vector_search.store import VectorStore
from tests.oracles.vector.bm25 import bm25, full_text_score, terms_of
from tests.store_suite.vector.builders import (
    MODEL,
    SPACE,
    contents,
    document,
    words,
    year,
)

# Words that stemming does not change, so that every store sees the same terms.
CORPUS = {
    "a": "red lamp red door",
    "b": "red moon",
    "c": "moon door lamp lamp lamp",
    "d": "salt",
    "e": "red moon salt tin tin tin tin drum",
}
NASTY = [
    "'",
    "\\",
    "a & b | !c",
    "<->",
    "'); drop table chunk; --",
    ":*",
    "%",
    "\u202e",
    "😀",
    "(((",
]


class WordsSuite:
    """Searches by words. Subclasses define the fixture `store`."""

    async def test_a_document_is_found_by_its_title(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "body", title="Lighthouse")])
        assert contents(await store.search(SPACE, words("lighthouse"))) == ["body"]

    async def test_words_are_scored_by_bm25_over_current_chunks(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("a", "red moon salt")])
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in CORPUS.items()])
        terms = {key: terms_of(text) for key, text in CORPUS.items()}
        for query in ("red", "lamp moon", "tin red salt door", "drum nothing"):
            expected = bm25(terms_of(query), terms, terms.values())
            full = full_text_score(terms_of(query), terms.values())
            found = await store.search(SPACE, words(query))
            scores = {hit.chunk.document_id: hit.score for hit in found.hits}
            parts = {hit.chunk.document_id: hit.scores.text for hit in found.hits}
            assert parts == pytest.approx(expected)
            assert scores == pytest.approx({key: bend(expected[key] / full) for key in expected})
            assert [hit.score for hit in found.hits] == sorted(scores.values(), reverse=True)

    async def test_scores_follow_deletions(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in CORPUS.items()])
        await store.delete_document(SPACE, "e")
        left = {key: terms_of(text) for key, text in CORPUS.items() if key != "e"}
        found = await store.search(SPACE, words("red moon tin"))
        scores = {hit.chunk.document_id: hit.scores.text for hit in found.hits}
        assert scores == pytest.approx(bm25(terms_of("red moon tin"), left, left.values()))
        full = full_text_score(terms_of("red moon tin"), left.values())
        for hit in found.hits:
            assert hit.score == pytest.approx(bend((hit.scores.text or 0) / full))

    async def test_a_query_of_only_stop_words_finds_nothing(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "the door of the house")])
        assert contents(await store.search(SPACE, words("the of and"))) == []

    @pytest.mark.parametrize("query", NASTY)
    async def test_any_text_is_a_safe_query(self, store: VectorStore, query: str) -> None:
        await store.upsert(SPACE, MODEL, [document("d", f"copper {query} zinc")])
        for match in TextMatch:
            found = await store.search(SPACE, words(f"{query} zinc", match=match))
            assert [hit.chunk.document_id for hit in found.hits] == ["d"], match

    async def test_a_phrase_matches_consecutive_words(self, store: VectorStore) -> None:
        texts = {
            "a": "the red moon door",
            "b": "moon red door",
            "c": "red lamp moon",
            "d": "red moon red moon salt",
            "e": "salt lamp",
        }
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in texts.items()])
        cases = {
            "Red moon": ["a", "d"],
            "moon red": ["b", "d"],
            "red moon door": ["a"],
            "the red": ["a", "b", "c", "d"],
            "red of moon": ["c"],
            "door": ["a", "b"],
            "red unknown": [],
            "moon salt door": [],
            "the of": [],
            "!?": [],
        }
        for query, expected in cases.items():
            found = await store.search(SPACE, words(query, match=TextMatch.PHRASE))
            assert sorted(hit.chunk.document_id for hit in found.hits) == expected, query
        phrase = await store.search(SPACE, words("red moon", match=TextMatch.PHRASE))
        loose = await store.search(SPACE, words("red moon"))
        scores = {hit.chunk.id: hit.score for hit in loose.hits}
        assert all(hit.score == pytest.approx(scores[hit.chunk.id]) for hit in phrase.hits)
        assert phrase.hits[0].chunk.document_id == "d"

    async def test_words_are_found_next_to_any_punctuation_and_in_any_unicode_form(
        self, store: VectorStore
    ) -> None:
        texts = {
            "a": "“red” moon",
            "b": "lamp—door",
            "c": "ten\u00a0tin",
            "d": "salt…drum",
            "e": "«copper» in tokyo、zinc",
            "f": "the company’s ledger",
            "g": "the company's book",
            "h": "cafe\u0301 ﬁne",
            "i": "lamp\u00adlight INC‑104",
        }
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in texts.items()])
        cases = {
            "red": ["a"],
            "red moon": ["a"],
            "“moon”": ["a"],
            "lamp": ["b"],
            "lamp–door": ["b"],
            "tin": ["c"],
            "ten tin": ["c"],
            "salt": ["d"],
            "drum": ["d"],
            "copper": ["e"],
            "zinc": ["e"],
            "company": ["f", "g"],
            "company's": ["f", "g"],
            "company’s": ["f", "g"],
            "company’s book": ["g"],
            "company's ledger": ["f"],
            "caf\u00e9": ["h"],
            "cafe\u0301": ["h"],
            "fine": ["h"],
            "ﬁne": ["h"],
            "lamplight": ["i"],
            "INC-104": ["i"],
        }
        for query, expected in cases.items():
            found = await store.search(SPACE, words(query, match=TextMatch.PHRASE))
            assert sorted(hit.chunk.document_id for hit in found.hits) == expected, query
            if " " not in query:
                found = await store.search(SPACE, words(query))
                assert sorted(hit.chunk.document_id for hit in found.hits) == expected, query

    async def test_words_are_found_with_and_without_accents(self, store: VectorStore) -> None:
        texts = {
            "a": "the caf\u00e9 at the corner",
            "b": "the cafe of zurich",
            "c": "CAFE\u0301 Z\u00dcRICH",
            "d": "jalape\u00f1o",
            "e": "th\u00e9 glac\u00e9",
        }
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in texts.items()])
        cases = {
            "cafe": ["a", "b", "c"],
            "caf\u00e9": ["a", "b", "c"],
            "Cafe\u0301": ["a", "b", "c"],
            "zurich": ["b", "c"],
            "z\u00fcrich": ["b", "c"],
            "jalapeno": ["d"],
            "th\u00e9": ["e"],
            "the": [],
        }
        for query, expected in cases.items():
            found = await store.search(SPACE, words(query))
            assert sorted(hit.chunk.document_id for hit in found.hits) == expected, query
        for phrase, expected in {
            "cafe zurich": ["c"],
            "caf\u00e9 z\u00fcrich": ["c"],
            "cafe of z\u00fcrich": ["b"],
        }.items():
            found = await store.search(SPACE, words(phrase, match=TextMatch.PHRASE))
            assert sorted(hit.chunk.document_id for hit in found.hits) == expected, phrase
        for prefix in ("jalape", "jalapen", "jalape\u00f1"):
            found = await store.search(SPACE, words(prefix, match=TextMatch.PREFIX))
            assert [hit.chunk.document_id for hit in found.hits] == ["d"], prefix

    async def test_a_word_with_an_accent_scores_like_the_plain_word(
        self, store: VectorStore
    ) -> None:
        texts = {"a": "caf\u00e9 lamp", "b": "cafe lamp", "c": "moon"}
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in texts.items()])
        plain = await store.search(SPACE, words("cafe"))
        accented = await store.search(SPACE, words("caf\u00e9"))
        assert [hit.score for hit in plain.hits] == [hit.score for hit in accented.hits]

    async def test_words_are_found_in_scripts_without_spaces(self, store: VectorStore) -> None:
        texts = {
            "a": "\u65e5\u672c\u306e\u8239\u3002",
            "b": "\u672c\u3092\u8aad\u3080\u65e5",
            "c": "\u6771\u4eac\u306f2024\u5e74\u306e\u65e5\u672c\u3001iPhone\u30b1\u30fc\u30b9",
            "d": "\uc11c\uc6b8\uc5d0\uc11c \ub9cc\ub0ac\ub2e4",
            "e": "\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e\u0e21\u0e2b\u0e32\u0e19\u0e04\u0e23",
        }
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in texts.items()])
        every = {
            "\u65e5\u672c": ["a", "c"],
            "\u65e5\u672c\u306e\u8239": ["a"],
            "\u8239": ["a"],
            "\u672c": ["a", "b", "c"],
            "\u8aad\u3080": ["b"],
            "\u5e74": ["c"],
            "2024": ["c"],
            "iphone": ["c"],
            "\u30b1\u30fc\u30b9": ["c"],
            "\uc11c\uc6b8": ["d"],
            "\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e": ["e"],
            "\u4e2d\u56fd": [],
        }
        for query, expected in every.items():
            found = await store.search(SPACE, words(query, match=TextMatch.PHRASE))
            assert sorted(hit.chunk.document_id for hit in found.hits) == expected, query
            for match in (TextMatch.ANY, TextMatch.PREFIX):
                found = await store.search(SPACE, words(query, match=match))
                ids = {hit.chunk.document_id for hit in found.hits}
                assert ids >= set(expected), (query, match)
                assert bool(ids) == bool(expected), (query, match)
        asked = "\u65e5\u672c\u306e\u8239\u306f\u3069\u3053\u3067\u3059\u304b"
        assert contents(await store.search(SPACE, words(asked)))[0] == texts["a"]
        assert contents(await store.search(SPACE, words("\u65e5\u672c"))) != []
        found = await store.search(SPACE, words("\u65e5\u672c"))
        assert sorted(hit.chunk.document_id for hit in found.hits) == ["a", "c"]

    async def test_filters_and_time_apply_to_phrases(self, store: VectorStore) -> None:
        for text, when in (("red moon", 2001), ("moon red", 2002)):
            await store.upsert(SPACE, MODEL, [document("d", text, valid_time=year(when))])
        await store.upsert(SPACE, MODEL, [document("e", "red moon e", metadata={"k": 1})])
        for given, expected in (
            ({}, ["red moon e"]),
            ({"document_ids": ("d",)}, []),
            ({"metadata": {"k": 1}}, ["red moon e"]),
            ({"as_of": year(2001)}, ["red moon"]),
        ):
            search = words("red moon", match=TextMatch.PHRASE, **given)
            assert contents(await store.search(SPACE, search)) == expected

    async def test_the_last_word_of_a_prefix_search_matches_longer_words(
        self, store: VectorStore
    ) -> None:
        texts = {"a": "lamp", "b": "lamplight", "c": "red lam", "d": "clamp", "e": "red"}
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in texts.items()])
        cases = {
            "lam": ["a", "b", "c"],
            "LAMP": ["a", "b"],
            "lampl": ["b"],
            "red lampl": ["b", "c", "e"],
            "lam red": ["c", "e"],
            "x": [],
            "%": [],
        }
        for query, expected in cases.items():
            found = await store.search(SPACE, words(query, match=TextMatch.PREFIX))
            assert sorted(hit.chunk.document_id for hit in found.hits) == expected, query

    async def test_one_letter_after_a_period_is_a_prefix(self, store: VectorStore) -> None:
        texts = {"a": "red node.js", "b": "red moon", "c": "jam", "d": "tin"}
        await store.upsert(SPACE, MODEL, [document(k, text) for k, text in texts.items()])
        cases = {
            "node.": ["a"],
            "node.j": ["a", "c"],
            "node.j ": ["a", "c"],
            "moon node.j": ["a", "b", "c"],
            "node.js": ["a"],
        }
        for query, expected in cases.items():
            found = await store.search(SPACE, words(query, match=TextMatch.PREFIX))
            assert sorted(hit.chunk.document_id for hit in found.hits) == expected, query
