"""Words by the rules of a space's language, phrases and beginnings: over a socket and real PostgreSQL."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from braid.common.v1 import errors_pb2
from braid.vector.v1 import chunks_pb2, documents_pb2, search_pb2
from services.vector_search.domain import FusionKind, Search, SearchResult, TextMatch
from services.vector_search.postgres import PostgresStore
from tests.integration.vector_search.conftest import Tier
from tests.integration.vector_search.messages import document, upsert
from tests.integration.vector_search.test_service import failure
from tests.store_suite.vector.builders import EAST, MODEL, NORTH, SPACE, UP, both, words
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
JOINED = (
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
# Words as they were stored before joined ones were parted.
BEFORE = """
update chunk set tsv = to_tsvector('english', title || E'\\n' || content);
delete from posting;
insert into posting (space, lexeme, chunk_id, tf, length, current)
  select c.space, w.lexeme, c.id, cardinality(w.positions), c.length, c.current
  from chunk c cross join lateral unnest(c.tsv) w;
delete from term;
insert into term (space, lexeme, df, postings) select space, lexeme, count(*), count(*) from posting group by 1, 2;
"""


async def found(tier: Tier, query: str, match: chunks_pb2.TextMatch.ValueType) -> list[str]:
    """Ids of the documents found, sorted."""
    request = search_pb2.TextSearchRequest(query=query, match=match)
    answer = await tier.search.TextSearch(request, metadata=OURS)
    return sorted(hit.chunk.document_id for hit in answer.hits)


def ids(result: SearchResult) -> list[str]:
    """The chunks found, best first."""
    return [hit.chunk.id for hit in result.hits]


async def write(tier: Tier, **texts: str) -> None:
    """Stores a document of one chunk for each text."""
    for key, text in texts.items():
        await tier.documents.UpsertDocument(upsert(document(key, text)), metadata=OURS)


async def test_phrases_and_beginnings_go_by_stems(tier: Tier) -> None:
    await write(tier, a="She was running the races", b="races she ran", c="universities")
    phrase, prefix = chunks_pb2.TEXT_MATCH_PHRASE, chunks_pb2.TEXT_MATCH_PREFIX
    assert await found(tier, "runs the race", phrase) == ["a"]
    assert await found(tier, "race run", phrase) == []
    assert await found(tier, "univ", prefix) == ["c"]
    assert await found(tier, "university", prefix) == ["c"]
    assert await found(tier, "univ", chunks_pb2.TEXT_MATCH_UNSPECIFIED) == []


@pytest.mark.parametrize("word", [*PARTS, *WHOLE])
async def test_words_are_found_in_what_joins_them(tier: Tier, word: str) -> None:
    text = f"{JOINED} On 2024-04-18 it cost 2.5 in the U.S. of all, by café/thé and вход/выход."
    await write(tier, a=text, b="other")
    assert await found(tier, word, chunks_pb2.TEXT_MATCH_ANY) == ["a"]
    assert await found(tier, word, chunks_pb2.TEXT_MATCH_PHRASE) == ["a"]


async def test_chunks_of_before_are_found_by_joined_words(store: PostgresStore) -> None:
    """They were stored with each as one word."""
    await store.upsert(SPACE, MODEL, [stored("old", "see checkout/payments and INC-104")])
    async with store.pools[1].transaction() as session:
        await session.execute(BEFORE)
    for number in (1, 2):
        for query in ("checkout/payments", "INC-104"):
            for match in (TextMatch.ANY, TextMatch.PHRASE):
                result = await store.search(SPACE, words(query, match=match))
                assert len(result.hits) == number, (query, match)
        await store.upsert(SPACE, MODEL, [stored("new", "of checkout/payments and INC-104")])


async def test_completions_weigh_as_the_one_word_that_they_stand_for(store: PostgresStore) -> None:
    """A rare one of them is no better hit than the word itself."""
    texts = ["ledger service", "ledger service notes", "ledger servers", "a serval in the zoo"]
    texts += [f"service of {word}" for word in COMMON]
    await store.upsert(SPACE, MODEL, [stored(f"d{n}", text) for n, text in enumerate(texts)])
    result = await store.search(SPACE, words("ledger serv", match=TextMatch.PREFIX))
    best = [hit.chunk.content for hit in result.hits]
    assert set(best[:3]) == set(texts[:3])
    assert texts[3] in best


async def test_a_languages_rules_hold_for_chunks_and_queries(tier: Tier) -> None:
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
async def test_an_unknown_language_is_refused_with_those_that_there_are(
    tier: Tier, language: str
) -> None:
    request = documents_pb2.SetTextLanguageRequest(language=language)
    error = await failure(tier.documents.SetTextLanguage(request, metadata=OURS))
    [(field, told)] = error.fields
    assert field == "language"
    assert told.startswith("must be one of arabic, ")
    assert {"english", "german", "simple"} <= set(told.removeprefix("must be one of ").split(", "))


async def test_a_space_with_chunks_keeps_its_language(tier: Tier) -> None:
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
async def test_any_text_is_a_safe_query_and_finds_itself_in_every_way(
    text: str, store: PostgresStore
) -> None:
    await store.upsert(SPACE, MODEL, [stored("d", f"{text} ", title="")])
    ways = [await store.search(SPACE, Search(text=text, match=match)) for match in TextMatch]
    anything, phrase, beginning = (bool(result.hits) for result in ways)
    assert anything == phrase
    assert beginning or not anything


async def test_where_words_weigh_half_or_their_ranks_count_a_fused_search_has_the_best_by_words(
    store: PostgresStore,
) -> None:
    """Also where each word is in most chunks, so that the rarest alone say little of which are best."""
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
