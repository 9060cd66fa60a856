"""The contract of graph stores for document versions: sentences are valid while a version contains them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.graph_query.core.domain import Fact, FactFilter, Passage
from services.graph_query.core.full_text import query_terms
from services.graph_query.episodes.extraction_result import ExtractionResult
from services.graph_query.episodes.intake import Stores
from tests.store_suite.graph.builders import ALWAYS, at, day, new_space, passage

FIRST, SECOND, THIRD = "2020-01-01", "2021-01-01", "2022-01-01"
ADA, BERTA, TEAM = (
    "Ada Byron leads Orion Team.",
    "Berta Benz leads Orion Team.",
    "It met Carl Orff in the old red room.",
)


def parts(space: str, since: str, *texts: str) -> list[Passage]:
    """Builds a version of a document; each text is a chunk, the same one in every version."""
    places = {ADA: 0, BERTA: 1, TEAM: 2}
    return [
        replace(passage(space, "d", "Status", text, places[text]), version_time=day(since))
        for text in texts
    ]


def bare(space: str, *texts: str) -> list[Passage]:
    """Builds the same chunks without a version."""
    return [replace(one, version_time=None) for one in parts(space, FIRST, *texts)]


async def co_occurrences(store: Stores, space: str, only: FactFilter) -> list[Fact]:
    """Searches co-occurrences by words at a time; checks that the neighborhood of their subject has the same."""
    found = await store.search_words(space, query_terms("leads met"), [], only, 20)
    facts = [fact for facts, _ in found.sentences for fact in facts]
    near = await store.neighborhood(space, "status", "", 20, only)
    assert sorted(fact.uuid for fact in near.edges) == sorted(fact.uuid for fact in facts)
    assert near.total == len({fact.target.uuid for fact in facts})
    return sorted(facts, key=lambda fact: (fact.fact, fact.target.name))


async def texts(store: Stores, space: str, only: FactFilter) -> Sequence[str]:
    """Returns the sentences that are valid at a time."""
    return list(dict.fromkeys(fact.fact for fact in await co_occurrences(store, space, only)))


def since(own: str, version: str, text: str, space: str) -> Passage:
    """Builds a chunk of a version that also has its own valid time."""
    [one] = parts(space, version, text)
    return replace(one, valid_time=day(own))


class VersionsSuite:
    """Versions of documents."""

    async def test_a_chunk_with_its_own_valid_time_is_not_valid_before_it(
        self, store: Stores
    ) -> None:
        space = new_space()
        passages = [since(FIRST, FIRST, ADA, space), since(SECOND, FIRST, BERTA, space)]
        await store.add_episodes(space, passages)
        assert await texts(store, space, at("2019-12-31")) == []
        assert await texts(store, space, at("2020-06-01")) == [ADA]
        assert await texts(store, space, at(SECOND)) == [ADA, BERTA]
        assert await texts(store, space, at(THIRD)) == [ADA, BERTA]
        later = [since(FIRST, "2020-01-02", ADA, space), since(THIRD, "2020-01-02", TEAM, space)]
        await store.add_episodes(space, later)
        assert await texts(store, space, at("2020-06-01")) == [ADA]
        assert await texts(store, space, at(SECOND)) == [ADA]
        assert await texts(store, space, at(THIRD)) == [ADA, TEAM]

    async def test_the_earliest_valid_time_of_a_chunk_applies(self, store: Stores) -> None:
        for order in ((SECOND, FIRST), (FIRST, SECOND), (SECOND, None), (None, SECOND)):
            space = new_space()
            for own in order:
                one = since(own or FIRST, FIRST, ADA, space)
                await store.add_episodes(space, [one if own else replace(one, valid_time=None)])
            assert await texts(store, space, at("2020-06-01")) == [ADA]

    async def test_a_chunk_without_a_version_is_valid_from_its_own_time(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_episodes(
            space, [replace(since(SECOND, FIRST, ADA, space), version_time=None)]
        )
        assert await texts(store, space, at("2020-06-01")) == []
        assert await texts(store, space, at(THIRD)) == [ADA]

    async def test_the_sentences_of_a_version_are_valid_while_it_is_in_force(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, FIRST, ADA))
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        assert await texts(store, space, at("2020-06-01")) == [ADA]
        assert await texts(store, space, at(SECOND)) == [BERTA]
        assert await texts(store, space, at("2019-01-01")) == []
        assert await texts(store, space, ALWAYS) == [ADA, BERTA]

    async def test_co_occurrences_have_the_validity_of_their_version(self, store: Stores) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, FIRST, ADA))
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        facts = {fact.fact: fact for fact in await co_occurrences(store, space, ALWAYS)}
        assert (facts[ADA].valid_at, facts[ADA].invalid_at) == (day(FIRST), day(SECOND))
        assert (facts[BERTA].valid_at, facts[BERTA].invalid_at) == (day(SECOND), None)
        near = await store.neighborhood(space, "status", "", 20, ALWAYS)
        assert {fact.fact: fact for fact in near.edges}[ADA].invalid_at == day(SECOND)

    async def test_a_chunk_in_both_versions_stays_valid(self, store: Stores) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, FIRST, ADA, TEAM))
        counts = await store.add_episodes(space, parts(space, SECOND, BERTA, TEAM))
        assert counts.episodes == 1
        assert await texts(store, space, at("2020-06-01")) == [ADA, TEAM]
        assert await texts(store, space, at("2021-06-01")) == [BERTA, TEAM]

    async def test_a_version_that_only_drops_a_chunk_ends_its_validity(self, store: Stores) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, FIRST, ADA, TEAM))
        counts = await store.add_episodes(space, parts(space, SECOND, TEAM))
        assert counts.episodes == 0
        assert await texts(store, space, at("2021-06-01")) == [TEAM]

    async def test_a_sentence_that_returns_in_a_later_version_is_not_valid_in_between(
        self, store: Stores
    ) -> None:
        space = new_space()
        for since, text in ((FIRST, ADA), (SECOND, BERTA), (THIRD, ADA)):
            await store.add_episodes(space, parts(space, since, text))
        stored = [await texts(store, space, at(f"{year}-06-01")) for year in (2020, 2021, 2022)]
        assert stored == [[ADA], [BERTA], [ADA]]
        again = await co_occurrences(store, space, at("2022-06-01"))
        assert {(fact.fact, fact.invalid_at) for fact in again} == {(ADA, None)}

    async def test_versions_may_be_written_in_any_order_and_repeatedly(self, store: Stores) -> None:
        space = new_space()
        versions = [parts(space, s, t) for s, t in ((SECOND, BERTA), (FIRST, ADA), (THIRD, TEAM))]
        for version in versions:
            await store.add_episodes(space, version)
        revision = (await store.stats(space)).revision
        for version in versions:
            await store.add_episodes(space, version)
        assert (await store.stats(space)).revision == revision
        stored = [await texts(store, space, at(f"{year}-06-01")) for year in (2020, 2021, 2022)]
        assert stored == [[ADA], [BERTA], [TEAM]]

    async def test_a_version_may_be_written_in_parts(self, store: Stores) -> None:
        space = new_space()
        for since, *contents in ((FIRST, ADA, TEAM), (SECOND, BERTA, TEAM)):
            for text in contents:
                await store.add_episodes(space, parts(space, since, text))
        assert await texts(store, space, at("2020-06-01")) == [ADA, TEAM]
        assert await texts(store, space, at("2021-06-01")) == [BERTA, TEAM]

    async def test_deleting_a_version_revives_the_sentences_it_had_ended(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, FIRST, ADA))
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        await store.delete_episodes(space, [parts(space, SECOND, BERTA)[0].uuid])
        assert await texts(store, space, at("2021-06-01")) == [ADA]
        left = await co_occurrences(store, space, ALWAYS)
        assert {(fact.fact, fact.invalid_at) for fact in left} == {(ADA, None)}

    async def test_a_version_with_another_source_keeps_the_earlier_versions_validity(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, FIRST, ADA))
        renamed = [replace(one, source="board") for one in parts(space, SECOND, ADA)]
        await store.add_episodes(space, renamed)
        assert await texts(store, space, at("2020-06-01")) == [ADA]
        assert await texts(store, space, at("2021-06-01")) == [ADA]

    async def test_a_mention_of_a_name_known_later_is_valid_only_with_its_own_version(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, FIRST, TEAM))
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        await store.add_episodes(space, [passage(space, "e", "Old Red Room", "It is closed.")])
        then = await co_occurrences(store, space, at("2020-06-01"))
        assert {fact.target.name for fact in then} == {"Carl Orff", "Old Red Room"}
        assert {fact.invalid_at for fact in then} == {day(SECOND)}
        assert await texts(store, space, at("2021-06-01")) == [BERTA]

    async def test_sentences_without_a_version_are_valid_at_any_time(self, store: Stores) -> None:
        space = new_space()
        await store.add_episodes(space, bare(space, ADA))
        assert await texts(store, space, at("1950-01-01")) == [ADA]
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        assert await texts(store, space, at("1950-01-01")) == [ADA]
        assert await texts(store, space, at("2021-06-01")) == [BERTA]

    async def test_a_new_version_does_not_affect_other_documents(self, store: Stores) -> None:
        space = new_space()
        other = replace(passage(space, "e", "Status", TEAM), version_time=day(FIRST))
        await store.add_episodes(space, [other, *parts(space, FIRST, ADA)])
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        assert await texts(store, space, at("2021-06-01")) == [BERTA, TEAM]

    async def test_deleting_the_only_version_revives_the_unversioned_sentences(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_episodes(space, bare(space, ADA))
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        await store.delete_episodes(space, [parts(space, SECOND, BERTA)[0].uuid])
        assert await texts(store, space, at("2021-06-01")) == [ADA]
        left = await co_occurrences(store, space, ALWAYS)
        assert {(fact.valid_at, fact.invalid_at) for fact in left} == {(None, None)}

    async def test_unversioned_chunks_are_valid_until_the_first_version_in_any_order(
        self, store: Stores
    ) -> None:
        for order in ([[0], [1]], [[1], [0]], [[0, 1]]):
            space = new_space()
            given = [*bare(space, ADA), *parts(space, SECOND, BERTA)]
            for batch in order:
                await store.add_episodes(space, [given[number] for number in batch])
            assert await texts(store, space, at("1950-01-01")) == [ADA]
            assert await texts(store, space, at("2021-06-01")) == [BERTA]

    async def test_a_chunk_written_again_without_its_version_keeps_its_validity(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, FIRST, ADA))
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        await store.add_episodes(space, [replace(one, source="board") for one in bare(space, ADA)])
        assert await texts(store, space, at("2020-06-01")) == [ADA]
        assert await texts(store, space, at("2021-06-01")) == [BERTA]

    async def test_an_already_extracted_chunk_gains_another_version(self, store: Stores) -> None:
        space = new_space()
        await store.add_episodes(space, parts(space, SECOND, BERTA))
        for since in (FIRST, SECOND):
            [one] = parts(space, since, ADA)
            await store.extractions.add_extraction(space, one, ExtractionResult(), "")
        assert await texts(store, space, at("2020-06-01")) == [ADA]
        assert await texts(store, space, at("2021-06-01")) == [ADA, BERTA]
        revision = (await store.stats(space)).revision
        await store.extractions.add_extraction(space, one, ExtractionResult(), "")
        assert (await store.stats(space)).revision == revision
