"""What every graph store promises about facts that end, hold again, and are read in episodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import pytest

from services.graph_query.core.domain import (
    DescribedEntity,
    EntityName,
    Fact,
    FactFilter,
    GivenFact,
    Passage,
)
from services.graph_query.core.full_text import query_terms
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.episodes.extraction_result import (
    Contradicted,
    ExtractionResult,
    Supported,
)
from services.graph_query.episodes.intake import Stores
from services.graph_query.findings.domain import (
    FindingFields,
    FindingFilter,
    FindingKind,
    FindingOrigin,
    FindingStore,
    GivenFinding,
)
from services.graph_query.search.as_known import AsKnownStore, Known
from services.runtime.errors import InvalidFieldError, NotFoundError, WrongStateError
from tests.store_suite.graph.builders import (
    ALWAYS,
    DIMENSION,
    at,
    day,
    fact,
    listed,
    new_space,
    passage,
    unit,
)
from tests.stubs.embedders import StubEmbedder

TEXT = "Anna Bell leads the Guild."


class Graph(Stores, Protocol):
    """The store with what language models read."""

    @property
    def findings(self) -> FindingStore: ...

    @property
    def as_known(self) -> AsKnownStore: ...


async def around(
    store: Graph, space: str, name: str = "Guild", only: FactFilter = ALWAYS
) -> list[Fact]:
    """The stated facts of an entity, the latest to begin first."""
    found = await store.neighborhood(space, name.casefold(), "", 20, only)
    return [edge for edge in found.edges if edge.relation != "CO_OCCURS"]


def read(episode: Passage, subject: str, relation: str, target: str, **more: object) -> GivenFact:
    """A fact as it is read in an episode."""
    return replace(fact(subject, relation, target, **more), episode_id=episode.uuid)


class EndingSuite:
    """Ending facts."""

    async def test_an_ended_fact_holds_until_then_and_stays_on_record(self, store: Graph) -> None:
        space = new_space()
        result = fact("Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.add_facts(space, [result], "")
        [before] = await around(store, space)
        ended = await store.end_fact(space, before.uuid, day("2022-01-01"))
        assert (ended.changed, ended.fact.invalid_at) == (True, day("2022-01-01"))
        assert [one.uuid for one in await around(store, space, only=at("2021-12-31"))] == [
            before.uuid
        ]
        assert await around(store, space, only=at("2022-01-01")) == []

    async def test_ending_again_changes_nothing_and_at_another_time_corrects(
        self, store: Graph
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Anna Bell", "LEADS", "Guild")], "")
        [one] = await around(store, space)
        first = await store.end_fact(space, one.uuid, day("2022-01-01"))
        again = await store.end_fact(space, one.uuid, day("2022-01-01"))
        assert (again.changed, again.revision) == (False, first.revision)
        later = await store.end_fact(space, one.uuid, day("2023-01-01"))
        assert (later.changed, later.fact.invalid_at) == (True, day("2023-01-01"))

    async def test_an_end_before_the_start_is_refused(self, store: Graph) -> None:
        space = new_space()
        result = fact("Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.add_facts(space, [result], "")
        [one] = await around(store, space)
        for wrong in ("2020-01-01", "2019-01-01"):
            with pytest.raises(InvalidFieldError, match="valid_time"):
                await store.end_fact(space, one.uuid, day(wrong))
        assert await around(store, space) == [one]

    async def test_a_fact_of_another_space_is_unknown(self, store: Graph) -> None:
        space, other = new_space(), new_space()
        await store.add_facts(space, [fact("Anna Bell", "LEADS", "Guild")], "")
        [one] = await around(store, space)
        with pytest.raises(NotFoundError):
            await store.end_fact(other, one.uuid, day("2022-01-01"))
        assert await around(store, space) == [one]

    async def test_a_fact_that_was_ended_stays_so_when_it_is_given_again(
        self, store: Graph
    ) -> None:
        space = new_space()
        result = fact("Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.add_facts(space, [result], "")
        [one] = await around(store, space)
        await store.end_fact(space, one.uuid, day("2022-01-01"))
        assert (await store.add_facts(space, [result], "")).added == 0
        assert [fact.invalid_at for fact in await around(store, space)] == [day("2022-01-01")]

    async def test_an_end_moves_with_a_fact_whose_entity_takes_another_uuid(
        self, store: Graph
    ) -> None:
        space = new_space()
        typed = fact(EntityName("Mercury", "Planet"), "ORBITS", "Sun Star")
        await store.add_facts(space, [typed], "")
        [one] = await around(store, space, "Sun Star")
        await store.end_fact(space, one.uuid, day("2022-01-01"))
        earlier = fact(EntityName("Mercury", "Element"), "IS_IN", "Old Thermometer")
        await store.add_facts(space, [earlier], "")
        [moved] = await around(store, space, "Sun Star")
        assert (moved.source.type, moved.invalid_at) == ("Planet", day("2022-01-01"))


class ReadingSuite:
    """Episodes with what was read in them."""

    async def test_what_is_read_is_there_with_its_episode_and_again_changes_nothing(
        self, store: Graph
    ) -> None:
        space = new_space()
        one = passage(space, "d1", "Note", TEXT)
        found = ExtractionResult(
            entities=(DescribedEntity(EntityName("Anna Bell", "Person"), "Leads.", {"age": 40}),),
            facts=(read(one, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01")),),
        )
        assert await store.extractions.unread(space, [one]) == [one]
        first = await store.extractions.add_extraction(space, one, found, "")
        again = await store.extractions.add_extraction(space, one, found, "")
        assert (first.episodes, first.facts) == (1, 1)
        assert (again.episodes, again.facts, again.revision) == (0, 0, first.revision)
        assert await store.extractions.unread(space, [one]) == []
        [led] = await around(store, space)
        assert [cited.chunk_id for cited in led.citations] == [one.uuid]
        people = await listed(store, space, "Person")
        assert [(one.summary, one.attributes) for one in people] == [("Leads.", {"age": 40})]

    async def test_two_statements_of_one_relation_are_two_facts(self, store: Graph) -> None:
        space = new_space()
        one = passage(space, "d1", "Note", TEXT)
        facts = tuple(
            read(one, "Anna Bell", "WORKS_ON", "Guild", fact=f"Anna Bell works on {part}.")
            for part in ("the front", "the back")
        )
        counts = await store.extractions.add_extraction(
            space, one, ExtractionResult(facts=facts), ""
        )
        assert counts.facts == 2

    async def test_deleting_an_episode_keeps_what_others_support_and_revives_what_it_ended(
        self, store: Graph
    ) -> None:
        space = new_space()
        first, second = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2))
        led = read(first, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        [there] = await around(store, space)
        new = read(second, "Karl Otto", "LEADS", "Guild", valid_at=day("2022-01-01"))
        found = ExtractionResult(
            facts=(new,),
            supported=(Supported(there.uuid, replace(led, episode_id=second.uuid)),),
            contradicted=(Contradicted(there.uuid, day("2022-01-01")),),
        )
        counts = await store.extractions.add_extraction(space, second, found, "")
        assert (counts.facts, counts.ended) == (1, 1)
        assert [one.invalid_at for one in await around(store, space, "Anna Bell")] == [
            day("2022-01-01")
        ]
        assert (await store.delete_episodes(space, [first.uuid])).facts == 0
        [left] = await around(store, space, "Anna Bell")
        assert [cited.chunk_id for cited in left.citations] == [second.uuid]
        gone = await store.delete_episodes(space, [second.uuid])
        assert gone.facts == 2
        assert (await store.stats(space)).entities == 0

    async def test_what_only_the_deleted_episode_ended_holds_again(self, store: Graph) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Anna Bell", "LEADS", "Guild")], "")
        [there] = await around(store, space)
        episodes = [passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2)]
        for episode, end in zip(episodes, ("2022-01-01", "2021-01-01"), strict=True):
            found = ExtractionResult(contradicted=(Contradicted(there.uuid, day(end)),))
            await store.extractions.add_extraction(space, episode, found, "")
        [ended] = await around(store, space)
        assert ended.invalid_at == day("2021-01-01")
        for episode, left in ((episodes[1], day("2022-01-01")), (episodes[0], None)):
            assert (await store.delete_episodes(space, [episode.uuid])).revived == 1
            assert [one.invalid_at for one in await around(store, space)] == [left]

    async def test_a_fact_that_is_taken_back_and_told_again_ends_as_another_episode_says(
        self, store: Graph
    ) -> None:
        space = new_space()
        first, second = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2))
        led = read(first, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        [there] = await around(store, space)
        await store.end_fact(space, there.uuid, day("2021-01-01"))
        ends = ExtractionResult(contradicted=(Contradicted(there.uuid, day("2022-01-01")),))
        await store.extractions.add_extraction(space, second, ends, "")
        assert (await store.delete_episodes(space, [first.uuid])).facts == 1
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        # The caller ended what went; the other episode is still there.
        assert [stored.invalid_at for stored in await around(store, space)] == [day("2022-01-01")]
        assert (await store.delete_episodes(space, [second.uuid])).revived == 1
        assert [stored.invalid_at for stored in await around(store, space)] == [None]

    async def test_what_ended_a_fact_that_is_gone_goes_with_its_episode(self, store: Graph) -> None:
        space = new_space()
        first, second = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2))
        led = read(first, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        [there] = await around(store, space)
        ends = ExtractionResult(contradicted=(Contradicted(there.uuid, day("2022-01-01")),))
        await store.extractions.add_extraction(space, second, ends, "")
        for episode in (first, second):
            await store.delete_episodes(space, [episode.uuid])
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        assert [stored.invalid_at for stored in await around(store, space)] == [None]

    async def test_a_new_fact_that_comes_contradicted_holds_on_once_all_that_contradict_it_are_gone(
        self, store: Graph
    ) -> None:
        space = new_space()
        first, second, third = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2, 3))
        for episode in (first, second):
            await store.extractions.add_extraction(space, episode, ExtractionResult(), "")
        gone = passage(space, "d4", "Note 4", TEXT).uuid
        end = day("2022-01-01")
        led = replace(
            read(third, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01")),
            ended_by=((first.uuid, end), (second.uuid, end), (gone, day("2021-01-01"))),
        )
        await store.extractions.add_extraction(space, third, ExtractionResult(facts=(led,)), "")
        assert [stored.invalid_at for stored in await around(store, space)] == [end]
        for episode, left in ((first, end), (second, None)):
            await store.delete_episodes(space, [episode.uuid])
            assert [stored.invalid_at for stored in await around(store, space)] == [left]

    async def test_a_callers_end_outlives_the_episode_that_said_so_too(self, store: Graph) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Anna Bell", "LEADS", "Guild")], "")
        [there] = await around(store, space)
        one = passage(space, "d1", "Note", TEXT)
        found = ExtractionResult(contradicted=(Contradicted(there.uuid, day("2021-01-01")),))
        await store.extractions.add_extraction(space, one, found, "")
        await store.end_fact(space, there.uuid, day("2022-01-01"))
        assert (await store.delete_episodes(space, [one.uuid])).revived == 0
        assert [stored.invalid_at for stored in await around(store, space)] == [day("2022-01-01")]

    async def test_what_was_said_of_an_entity_goes_with_the_episode_and_what_built_upon_it(
        self, store: Graph
    ) -> None:
        space = new_space()
        episodes = [passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2, 3)]
        for number, episode in enumerate(episodes):
            result = DescribedEntity(
                EntityName("Anna Bell", "Person"), f"Known {number}", {"n": number}
            )
            await store.extractions.add_extraction(
                space, episode, ExtractionResult(entities=(result,)), ""
            )
        assert await _described(store, space) == [("Known 2", {"n": 2})]
        await store.delete_episodes(space, [episodes[1].uuid])
        assert await _described(store, space) == [("Known 0", {"n": 0})]
        await store.delete_episodes(space, [episodes[0].uuid])
        assert await _described(store, space) == [("", {})]

    async def test_another_text_of_an_episode_takes_the_place_of_what_was_read(
        self, store: Graph
    ) -> None:
        space = new_space()
        one = passage(space, "d1", "Note", TEXT)
        found = ExtractionResult(facts=(read(one, "Anna Bell", "LEADS", "Guild"),))
        await store.extractions.add_extraction(space, one, found, "")
        changed = replace(one, content="Anna Bell left the Guild.")
        assert await store.extractions.unread(space, [changed]) == [changed]
        other = ExtractionResult(facts=(read(one, "Anna Bell", "LEFT", "Guild"),))
        await store.extractions.add_extraction(space, changed, other, "")
        assert [stored.relation for stored in await around(store, space)] == ["LEFT"]

    async def test_a_fact_that_one_write_ends_and_moves_is_found_by_words_as_it_was_known_before(
        self, store: Graph
    ) -> None:
        space = new_space()
        await store.add_facts(
            space, [fact(EntityName("Mercury", "Planet"), "ORBITS", "Sun Star")], ""
        )
        [before] = await around(store, space, "Sun Star")
        known = (await store.stats(space)).last_write
        assert known is not None
        one = passage(space, "d1", "Note", TEXT)
        element = read(one, "Mercury", "IS_IN", "Old Thermometer")
        found = ExtractionResult(
            facts=(replace(element, subject=EntityName("Mercury", "Element")),),
            contradicted=(Contradicted(before.uuid, day("2022-01-01")),),
        )
        await store.extractions.add_extraction(space, one, found, "")
        [moved] = await around(store, space, "Sun Star")
        assert (moved.uuid != before.uuid, moved.invalid_at) == (True, day("2022-01-01"))
        then = Known(ALWAYS, known.timestamp(), 10)
        hits = await store.as_known.search_words_known(space, query_terms("orbits"), [], then)
        assert [hit.uuid for hit in hits.text] == [before.uuid]

    async def test_findings_that_were_read_in_another_text_of_an_episode_go_and_given_ones_stay(
        self, store: Graph
    ) -> None:
        space = new_space()
        one, other = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2))
        only, both, late = (
            _found(f"The {part} works.", FindingOrigin.EXTRACTED)
            for part in ("front", "back", "side")
        )
        here = ExtractionResult(
            findings=tuple(replace(f, episodes=(one.uuid,)) for f in (only, both))
        )
        await store.extractions.add_extraction(space, one, here, "m")
        there = ExtractionResult(findings=(replace(both, episodes=(other.uuid,)),))
        await store.extractions.add_extraction(space, other, there, "m")
        given = replace(_found("It is old.", FindingOrigin.GIVEN), episodes=(one.uuid,))
        await store.findings.add_findings(space, [given], "")
        assert (await store.findings.finding_state(space)).vectors == 2
        changed = replace(one, content="Anna Bell left the Guild.")
        again = ExtractionResult(findings=(replace(late, episodes=(one.uuid,)),))
        await store.extractions.add_extraction(space, changed, again, "m")
        assert await _statements(store, space) == {
            "It is old.": [one.uuid],
            "The back works.": [other.uuid],
            "The side works.": [one.uuid],
        }
        assert (await store.findings.finding_state(space)).vectors == 2
        await store.add_episodes(space, [replace(one, content="Nothing is known.")])
        assert await _statements(store, space) == {
            "It is old.": [one.uuid],
            "The back works.": [other.uuid],
        }

    async def test_a_model_that_the_space_has_no_vectors_of_is_refused_before_anything_is_read(
        self, store: Graph
    ) -> None:
        space = new_space()
        one, two = (StubEmbedder(model, DIMENSION) for model in ("one", "two"))
        assert await SpaceModels(store.embeddings, two).embedder(space) is two
        await store.add_facts(space, [fact("Aaa Bbb", "IS", "Ccc Ddd", embedding=unit(1))], "one")
        assert await SpaceModels(store.embeddings, one).embedder(space) is one
        with pytest.raises(WrongStateError):
            await SpaceModels(store.embeddings, two).embedder(space)

    async def test_vectors_of_another_model_are_refused_whole(self, store: Graph) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Aaa Bbb", "IS", "Ccc Ddd", embedding=unit(1))], "one")
        one = passage(space, "d1", "Note", TEXT)
        with pytest.raises(WrongStateError):
            await store.extractions.add_extraction(space, one, ExtractionResult(), "two")
        assert (await store.stats(space)).episodes == 0

    async def test_each_space_reads_an_episode_of_the_same_id_for_itself(
        self, store: Graph
    ) -> None:
        ours, theirs = new_space(), new_space()
        one = passage(ours, "d1", "Note", TEXT)
        led = fact("Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        ended = Contradicted(await _uuid_of(store, theirs, led), day("2021-01-01"))
        await _uuid_of(store, ours, led)
        reading = ExtractionResult(contradicted=(ended,))
        await store.extractions.add_extraction(ours, one, ExtractionResult(), "")
        assert await store.extractions.unread(theirs, [one]) == [one]
        counts = await store.extractions.add_extraction(theirs, one, reading, "")
        assert (counts.episodes, counts.ended) == (1, 1)
        assert await store.extractions.unread(theirs, [one]) == []
        await store.delete_episodes(ours, [one.uuid])
        assert await store.extractions.unread(ours, [one]) == [one]
        near = await store.neighborhood(theirs, "guild", "", 5, ALWAYS)
        assert day("2021-01-01") in [edge.invalid_at for edge in near.edges]


async def _uuid_of(store: Graph, space: str, given: GivenFact) -> str:
    """Adds a fact that joins two entities alone."""
    await store.add_facts(space, [given], "")
    near = await store.neighborhood(space, given.subject.name.casefold(), "", 5, ALWAYS)
    return near.edges[0].uuid


async def _described(store: Graph, space: str) -> list[tuple[str, object]]:
    people = await listed(store, space, "Person")
    return [(one.summary, one.attributes) for one in people]


def _found(statement: str, origin: FindingOrigin) -> GivenFinding:
    vector = unit(1) if origin is FindingOrigin.EXTRACTED else ()
    fields = FindingFields(FindingKind.FINDING, statement)
    return GivenFinding(fields, origin=origin, embedding=vector)


async def _statements(store: Graph, space: str) -> dict[str, list[str]]:
    """The episodes of every finding of a space."""
    places = await store.findings.list_findings(space, FindingFilter(), None, 10)
    found = await store.findings.findings(space, [place.uuid for place in places])
    return {
        one.fields.statement: [cited.chunk_id for cited in one.citations] for one in found.values()
    }
