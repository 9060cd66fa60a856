"""Text search by words, phrases and prefixes in a space's language, over a socket and real PostgreSQL."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from braid.common.v1 import errors_pb2
from braid.vector.v1 import chunks_pb2, documents_pb2, search_pb2
from services.models.embedding.relevance import bend
from services.vector_search.domain import FusionKind, Search, SearchResult, TextMatch
from services.vector_search.postgres_store import PostgresStore
from tests.integration.vector_search.conftest import Tier
from tests.integration.vector_search.messages import document, upsert
from tests.integration.vector_search.test_service import failure
from tests.oracles.vector.bm25 import bm25, full_text_score, fuse, ranked, terms_of
from tests.store_suite.vector.builders import (
    EAST,
    MODEL,
    NORTH,
    SPACE,
    UP,
    both,
    towards,
    words,
)
from tests.store_suite.vector.builders import document as stored

OURS = Tier.credential("ours")
THEIRS = Tier.credential("theirs")
COMMON = [
    "amber",
    "basin",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "island",
    "jungle",
    "kelp",
    "lagoon",
]
COMPOUNDS = (
    "Books for checkout/payments at foo.example.com, see INC-104. Ask user@example.org of node.js."
)
PARTS = [
    "payments",
    "checkout",
    "104",
    "INC 104",
    "example",
    "foo",
    "user",
    "node",
    "js",
    "thé",
    "выход",
]
WHOLE = [
    "INC-104",
    "foo.example.com",
    "user@example.org",
    "checkout/payments",
    "2.5",
    "U.S.",
    "2024-04-18",
]
# Restores how words were stored before compounds were split.
STORE_COMPOUNDS_UNSPLIT = """
update chunk set tsv = to_tsvector('english', title || E'\\n' || content);
delete from posting;
insert into posting (space, lexeme, chunk_id, tf, length, current)
  select c.space, w.lexeme, c.id, cardinality(w.positions), c.length, c.current
  from chunk c cross join lateral unnest(c.tsv) w;
delete from term;
insert into term (space, lexeme, df, postings) select space, lexeme, count(*), count(*) from posting group by 1, 2;
"""


async def found(tier: Tier, query: str, match: chunks_pb2.TextMatch.ValueType) -> list[str]:
    """Returns the ids of the documents found, sorted."""
    request = search_pb2.TextSearchRequest(query=query, match=match)
    answer = await tier.search.TextSearch(request, metadata=OURS)
    return sorted(hit.chunk.document_id for hit in answer.hits)


def ids(result: SearchResult) -> list[str]:
    """Returns the ids of the chunks found, best first."""
    return [hit.chunk.id for hit in result.hits]


async def write(tier: Tier, **texts: str) -> None:
    """Stores a document of one chunk for each text."""
    for key, text in texts.items():
        await tier.documents.UpsertDocument(upsert(document(key, text)), metadata=OURS)


async def test_phrases_and_prefixes_are_matched_by_stem(tier: Tier) -> None:
    await write(tier, a="She was running the races", b="races she ran", c="universities")
    phrase, prefix = chunks_pb2.TEXT_MATCH_PHRASE, chunks_pb2.TEXT_MATCH_PREFIX
    assert await found(tier, "runs the race", phrase) == ["a"]
    assert await found(tier, "race run", phrase) == []
    assert await found(tier, "univ", prefix) == ["c"]
    assert await found(tier, "university", prefix) == ["c"]
    assert await found(tier, "univ", chunks_pb2.TEXT_MATCH_UNSPECIFIED) == []


@pytest.mark.parametrize("word", [*PARTS, *WHOLE])
async def test_words_are_found_inside_compound_words(tier: Tier, word: str) -> None:
    text = f"{COMPOUNDS} On 2024-04-18 it cost 2.5 in the U.S. of all, by café/thé and вход/выход."
    await write(tier, a=text, b="other")
    assert await found(tier, word, chunks_pb2.TEXT_MATCH_ANY) == ["a"]
    assert await found(tier, word, chunks_pb2.TEXT_MATCH_PHRASE) == ["a"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("1700", "The boiler cost £1,700 in May."),
        ("£1,700", "The boiler cost 1700 pounds."),
        ("1700", "The boiler cost $1,700 in May."),
        ("2500000", "It cost 2,500,000 francs."),
        ("2.13.4", "Release v2.13.4 fixes the leak."),
        ("V2.13.4", "Release 2.13.4 fixes the leak."),
        ("~lighthouse", "The lighthouse is closed."),
        ("costs ~1700", "The boiler cost £1,700 in May."),
    ],
)
async def test_numbers_and_versions_are_found_in_other_spellings(
    tier: Tier, query: str, text: str
) -> None:
    await write(tier, a=text, b="Nothing of the kind.")
    assert await found(tier, query, chunks_pb2.TEXT_MATCH_ANY) == ["a"]


async def test_chunks_stored_before_compounds_were_split_are_found_by_compound_words(
    store: PostgresStore,
) -> None:
    """They were stored with each compound as one word."""
    await store.upsert(SPACE, MODEL, [stored("old", "see checkout/payments and INC-104")])
    async with store.pools[1].transaction() as session:
        await session.execute(STORE_COMPOUNDS_UNSPLIT)
    for number in (1, 2):
        for query in ("checkout/payments", "INC-104"):
            for match in (TextMatch.ANY, TextMatch.PHRASE):
                result = await store.search(SPACE, words(query, match=match))
                assert len(result.hits) == number, (query, match)
        await store.upsert(SPACE, MODEL, [stored("new", "of checkout/payments and INC-104")])


async def test_all_completions_of_a_prefix_are_weighted_as_one_word(store: PostgresStore) -> None:
    """A rare completion of a prefix does not rank above the word itself."""
    texts = ["ledger service", "ledger service notes", "ledger servers", "a serval in the zoo"]
    texts += [f"service of {word}" for word in COMMON]
    await store.upsert(SPACE, MODEL, [stored(f"d{n}", text) for n, text in enumerate(texts)])
    result = await store.search(SPACE, words("ledger serv", match=TextMatch.PREFIX))
    best = [hit.chunk.content for hit in result.hits]
    assert set(best[:3]) == set(texts[:3])
    assert texts[3] in best


async def test_the_language_of_a_space_applies_to_chunks_and_queries(tier: Tier) -> None:
    request = documents_pb2.SetTextLanguageRequest(language="german")
    await tier.documents.SetTextLanguage(request, metadata=OURS)
    await write(tier, a="die alten Häuser", b="ein Haus", c="the running")
    match = chunks_pb2.TEXT_MATCH_ANY
    assert await found(tier, "Haus", match) == ["a", "b"]
    assert await found(tier, "die", match) == []
    assert await found(tier, "the runs", match) == ["c"]
    ours = await tier.documents.GetTextLanguage(
        documents_pb2.GetTextLanguageRequest(), metadata=OURS
    )
    theirs = await tier.documents.GetTextLanguage(
        documents_pb2.GetTextLanguageRequest(), metadata=THEIRS
    )
    assert (ours.language, theirs.language) == ("german", "english")
    assert {"simple", "english", "german", "french", "russian"} <= set(ours.available_languages)


@pytest.mark.parametrize(
    "language", ["klingon", "German", "", "english; drop table chunk", "a" * 64]
)
async def test_an_unknown_language_is_refused_with_a_list_of_the_available_ones(
    tier: Tier, language: str
) -> None:
    request = documents_pb2.SetTextLanguageRequest(language=language)
    error = await failure(tier.documents.SetTextLanguage(request, metadata=OURS))
    [(field, description)] = error.fields
    assert field == "language"
    assert description.startswith("must be one of arabic, ")
    assert {"english", "german", "simple"} <= set(
        description.removeprefix("must be one of ").split(", ")
    )


async def test_the_language_of_a_space_with_chunks_cannot_be_changed(tier: Tier) -> None:
    await write(tier, a="text")
    request = documents_pb2.SetTextLanguageRequest(language="french")
    error = await failure(tier.documents.SetTextLanguage(request, metadata=OURS))
    assert error.reason == errors_pb2.ERROR_REASON_WRONG_STATE
    assert "before its first document, or delete its documents first" in error.message
    again = documents_pb2.SetTextLanguageRequest(language="english")
    await tier.documents.SetTextLanguage(again, metadata=OURS)


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=60)
    | st.text("ab '\"\\&|!():*<->%_-.@/\n", max_size=40)
)
async def test_any_text_is_a_safe_query_and_finds_itself_with_every_match_mode(
    text: str, store: PostgresStore
) -> None:
    await store.upsert(SPACE, MODEL, [stored("d", f"{text} ", title="")])
    ways = [await store.search(SPACE, Search(text=text, match=match)) for match in TextMatch]
    anything, phrase, prefix_ = (bool(result.hits) for result in ways)
    assert anything == phrase
    assert prefix_ or not anything


async def test_rank_fusion_and_a_text_weight_of_1_use_the_exact_text_ranking(
    store: PostgresStore,
) -> None:
    """Even if each word is in most chunks, so that the rarest words alone hardly determine the best."""
    chance = random.Random(5)  # noqa: S311 - repeatable, no secret
    ways = [NORTH, EAST, UP]
    documents = [
        stored(f"d{n}", " ".join(chance.choices(COMMON, k=40)), at=[ways[n % 3]])
        for n in range(1_500)
    ]
    for start in range(0, len(documents), 500):
        await store.upsert(SPACE, MODEL, documents[start : start + 500])
    for _ in range(12):
        text = " ".join(chance.sample(COMMON, chance.randint(2, 6)))
        alone = await store.search(SPACE, words(text, limit=50))
        ranks = {hit.chunk.id: place for place, hit in enumerate(alone.hits, 1)}
        for weight in (0.5, 1.0):
            asked = both(text, NORTH, text_weight=weight, fusion=FusionKind.RECIPROCAL_RANK)
            for hit in (await store.search(SPACE, asked)).hits:
                assert ranks.get(hit.chunk.id, hit.scores.text_rank) == hit.scores.text_rank
        by_words = await store.search(SPACE, both(text, NORTH, text_weight=1.0, limit=10))
        assert ids(by_words) == ids(alone)[:10]


async def test_with_a_low_text_weight_hits_are_the_best_of_all_candidates(
    store: PostgresStore,
) -> None:
    """Only rare words yield text candidates then; a vector candidate may contain all the common words."""
    chance = random.Random(1)  # noqa: S311 - repeatable, no secret
    common, filling = COMMON[:5], [f"f{n}z" for n in range(400)]
    texts = ["rareword " + " ".join(chance.sample(filling, 60)) for _ in range(150)]
    texts += [
        " ".join([w for w in common if chance.random() < 0.6] + chance.sample(filling, 4))
        for _ in range(3_300)
    ]
    angles = [0.0] * 150 + [chance.uniform(0, 0.6) for _ in range(3_300)]
    new = stored(
        "d",
        " ".join(common),
        *texts,
        at=[(0.9, 0.19**0.5, 0), *((cos, (1 - cos * cos) ** 0.5, 0) for cos in angles)],
    )
    await store.upsert(SPACE, MODEL, [new])
    query, every = " ".join([*common, "rareword"]), [chunk.id for chunk in new.chunks]
    _, scores = await store.score_chunks(SPACE, query, towards(NORTH), every, 0.3)
    full = full_text_score(terms_of(query), [terms_of(chunk.content) for chunk in new.chunks])
    vector = {score.chunk_id: score.vector or 0 for score in scores}
    candidates = {*ranked(vector, 100), *every[1:151]}
    text = {score.chunk_id: score.text for score in scores if score.chunk_id in candidates}
    for weight in (0.1, 0.3, 0.45):
        found = await store.search(SPACE, both(query, NORTH, text_weight=weight, limit=5))
        fused = fuse(
            {key: vector[key] for key in candidates},
            text,
            full=full,
            pool=len(candidates),
            text_weight=weight,
            fusion=FusionKind.WEIGHTED_SCORE,
        )
        best = {key: score for key, (score, _) in fused.items()}
        assert ids(found) == ranked(best, 5)
        assert [hit.score for hit in found.hits] == pytest.approx([best[key] for key in ids(found)])
        assert found.hits[0].chunk.id == every[0]
        assert found.hits[0].scores.text_fused == pytest.approx(text[every[0]] / full)


def with_cosine(cosine: float) -> tuple[float, float, float]:
    """A vector with this cosine to NORTH."""
    return (cosine, math.sqrt(1 - cosine * cosine), 0)


async def test_with_a_low_text_weight_a_chunk_that_repeats_common_words_is_found_first(
    store: PostgresStore,
) -> None:
    """It repeats common words, which its rare word alone does not reveal."""
    chance = random.Random(1)  # noqa: S311 - repeatable, no secret
    filling = [f"f{n}z" for n in range(400)]
    kinds = [("", 0.95, 10), ("rareword ", 0.0, 300), ("alpha beta ", 0.0, 1_800), ("", 0.0, 1_000)]
    best = "rareword " + " ".join(["alpha", "beta"] * 12 + chance.sample(filling, 30))
    others = [
        words + " ".join(chance.sample(filling, 40)) for words, _, n in kinds for _ in range(n)
    ]
    cosines = [cosine for _, cosine, n in kinds for _ in range(n)]
    new = stored("d", best, *others, at=[with_cosine(cosine) for cosine in (0.6, *cosines)])
    await store.upsert(SPACE, MODEL, [new])
    full = full_text_score(
        terms_of("rareword alpha beta"), [terms_of(chunk.content) for chunk in new.chunks]
    )
    for weight, limit in product((0.3, 0.45), (1, 3, 10)):
        search = both("rareword alpha beta", NORTH, text_weight=weight, limit=limit)
        first = (await store.search(SPACE, search)).hits[0]
        assert first.chunk.id == new.chunks[0].id
        assert first.scores.text is not None
        total = (1 - weight) * 0.6 + weight * first.scores.text / full
        assert first.score == pytest.approx(bend(total), abs=0.001)


async def test_a_query_of_hundreds_of_words_is_scored_by_all_of_them(store: PostgresStore) -> None:
    """Even if they have more postings than are read at first."""
    many = [f"q{n}" for n in range(700)]
    texts = {f"d{n}": " ".join(many[n * 5 :]) for n in range(30)}
    await store.upsert(SPACE, MODEL, [stored(key, text) for key, text in texts.items()])
    terms = {key: terms_of(text) for key, text in texts.items()}
    expected = bm25(terms_of(" ".join(many)), terms, terms.values())
    for match, wanted in (
        (TextMatch.ANY, expected),
        (TextMatch.PREFIX, expected),
        (TextMatch.PHRASE, {"d0": expected["d0"]}),
    ):
        result = await store.search(SPACE, words(" ".join(many), match=match, limit=50))
        scores = {hit.chunk.document_id: hit.scores.text for hit in result.hits}
        assert scores == pytest.approx(wanted), match
    fused = await store.search(SPACE, both(" ".join(many), NORTH, text_weight=0.3, limit=50))
    texts_of = {hit.chunk.document_id: hit.scores.text for hit in fused.hits}
    assert texts_of == pytest.approx(expected)


async def test_the_rest_after_each_word_is_the_sum_of_the_later_words_weights(
    store: PostgresStore,
) -> None:
    many = [f"w{n}" for n in range(12)]
    texts = [" ".join(many[: n + 1]) for n in range(12)]
    await store.upsert(SPACE, MODEL, [stored("d", *texts)])
    async with store.pools[1].session() as session:
        terms = await session.row(
            "select * from weighted_terms($1, $2, $3, 1)", SPACE, [*many, "unknown"], len(texts)
        )
    assert terms is not None
    weights = list(terms["weights"])
    assert terms["lexemes"] == many[::-1]
    assert weights == sorted(weights, reverse=True)
    rests = [2.5 * sum(weights[place:]) for place in range(1, len(weights) + 1)]
    assert list(terms["rests"]) == pytest.approx(rests)


async def test_emoji_are_words_and_separate_words(tier: Tier) -> None:
    await write(tier, a="great\U0001f600 news", b="a \u26a0\ufe0fwarning", c="other")
    for query, expected in (
        ("great", "a"),
        ("\U0001f600", "a"),
        ("\u26a0", "b"),
        ("warnings", "b"),
    ):
        for match in (chunks_pb2.TEXT_MATCH_ANY, chunks_pb2.TEXT_MATCH_PHRASE):
            assert await found(tier, query, match) == [expected], query
