"""The contract of graph stores for ending facts and for storing what a language model extracted from episodes."""

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
    """A graph store with extractions, findings and searches as known at a time."""

    @property
    def findings(self) -> FindingStore: ...

    @property
    def as_known(self) -> AsKnownStore: ...


async def around(
    store: Graph, space: str, name: str = "Guild", only: FactFilter = ALWAYS
) -> list[Fact]:
    """Returns the stated facts of an entity, latest start first."""
    found = await store.neighborhood(space, name.casefold(), "", 20, only)
    return [edge for edge in found.edges if edge.relation != "CO_OCCURS"]


def extracted(
    episode: Passage, subject: str, relation: str, target: str, **more: object
) -> GivenFact:
    """Builds a fact that was extracted from an episode."""
    return replace(fact(subject, relation, target, **more), episode_id=episode.uuid)


class EndingSuite:
    """Ending facts at a caller's request."""

    async def test_an_ended_fact_is_valid_until_its_end_and_is_kept(self, store: Graph) -> None:
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

    async def test_ending_a_fact_again_is_idempotent_and_another_time_moves_the_end(
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

    async def test_a_fact_of_another_space_cannot_be_ended(self, store: Graph) -> None:
        space, other = new_space(), new_space()
        await store.add_facts(space, [fact("Anna Bell", "LEADS", "Guild")], "")
        [one] = await around(store, space)
        with pytest.raises(NotFoundError):
            await store.end_fact(other, one.uuid, day("2022-01-01"))
        assert await around(store, space) == [one]

    async def test_an_ended_fact_stays_ended_when_it_is_added_again(self, store: Graph) -> None:
        space = new_space()
        result = fact("Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.add_facts(space, [result], "")
        [one] = await around(store, space)
        await store.end_fact(space, one.uuid, day("2022-01-01"))
        assert (await store.add_facts(space, [result], "")).added == 0
        assert [fact.invalid_at for fact in await around(store, space)] == [day("2022-01-01")]

    async def test_a_fact_keeps_its_end_when_its_entity_gets_another_uuid(
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


class ExtractionSuite:
    """Episodes with the facts, descriptions and findings extracted from them."""

    async def test_an_extraction_is_stored_with_its_episode_once(self, store: Graph) -> None:
        space = new_space()
        one = passage(space, "d1", "Note", TEXT)
        found = ExtractionResult(
            entities=(DescribedEntity(EntityName("Anna Bell", "Person"), "Leads.", {"age": 40}),),
            facts=(extracted(one, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01")),),
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

    async def test_two_extracted_statements_of_one_relation_are_two_facts(
        self, store: Graph
    ) -> None:
        space = new_space()
        one = passage(space, "d1", "Note", TEXT)
        facts = tuple(
            extracted(one, "Anna Bell", "WORKS_ON", "Guild", fact=f"Anna Bell works on {part}.")
            for part in ("the front", "the back")
        )
        counts = await store.extractions.add_extraction(
            space, one, ExtractionResult(facts=facts), ""
        )
        assert counts.facts == 2

    async def test_deleting_an_episode_keeps_facts_that_another_episode_supports(
        self, store: Graph
    ) -> None:
        space = new_space()
        first, second = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2))
        led = extracted(first, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        [stored] = await around(store, space)
        new = extracted(second, "Karl Otto", "LEADS", "Guild", valid_at=day("2022-01-01"))
        found = ExtractionResult(
            facts=(new,),
            supported=(Supported(stored.uuid, replace(led, episode_id=second.uuid)),),
            contradicted=(Contradicted(stored.uuid, day("2022-01-01")),),
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

    async def test_a_fact_is_valid_again_when_the_only_episode_that_ended_it_is_deleted(
        self, store: Graph
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Anna Bell", "LEADS", "Guild")], "")
        [stored] = await around(store, space)
        episodes = [passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2)]
        for episode, end in zip(episodes, ("2022-01-01", "2021-01-01"), strict=True):
            found = ExtractionResult(contradicted=(Contradicted(stored.uuid, day(end)),))
            await store.extractions.add_extraction(space, episode, found, "")
        [ended] = await around(store, space)
        assert ended.invalid_at == day("2021-01-01")
        for episode, left in ((episodes[1], day("2022-01-01")), (episodes[0], None)):
            assert (await store.delete_episodes(space, [episode.uuid])).revived == 1
            assert [one.invalid_at for one in await around(store, space)] == [left]

    async def test_a_fact_withdrawn_and_extracted_again_keeps_the_end_set_by_another_episode(
        self, store: Graph
    ) -> None:
        space = new_space()
        first, second = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2))
        led = extracted(first, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        [stored] = await around(store, space)
        await store.end_fact(space, stored.uuid, day("2021-01-01"))
        ends = ExtractionResult(contradicted=(Contradicted(stored.uuid, day("2022-01-01")),))
        await store.extractions.add_extraction(space, second, ends, "")
        assert (await store.delete_episodes(space, [first.uuid])).facts == 1
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        # The end set by the caller was deleted with the fact; the other episode still exists.
        assert [stored.invalid_at for stored in await around(store, space)] == [day("2022-01-01")]
        assert (await store.delete_episodes(space, [second.uuid])).revived == 1
        assert [stored.invalid_at for stored in await around(store, space)] == [None]

    async def test_deleting_an_episode_removes_the_end_it_set_for_a_deleted_fact(
        self, store: Graph
    ) -> None:
        space = new_space()
        first, second = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2))
        led = extracted(first, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"))
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        [stored] = await around(store, space)
        ends = ExtractionResult(contradicted=(Contradicted(stored.uuid, day("2022-01-01")),))
        await store.extractions.add_extraction(space, second, ends, "")
        for episode in (first, second):
            await store.delete_episodes(space, [episode.uuid])
        await store.extractions.add_extraction(space, first, ExtractionResult(facts=(led,)), "")
        assert [stored.invalid_at for stored in await around(store, space)] == [None]

    async def test_a_fact_added_as_ended_is_valid_again_once_all_contradicting_episodes_are_deleted(
        self, store: Graph
    ) -> None:
        space = new_space()
        first, second, third = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2, 3))
        for episode in (first, second):
            await store.extractions.add_extraction(space, episode, ExtractionResult(), "")
        gone = passage(space, "d4", "Note 4", TEXT).uuid
        end = day("2022-01-01")
        led = replace(
            extracted(third, "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01")),
            ended_by=((first.uuid, end), (second.uuid, end), (gone, day("2021-01-01"))),
        )
        await store.extractions.add_extraction(space, third, ExtractionResult(facts=(led,)), "")
        assert [stored.invalid_at for stored in await around(store, space)] == [end]
        for episode, left in ((first, end), (second, None)):
            await store.delete_episodes(space, [episode.uuid])
            assert [stored.invalid_at for stored in await around(store, space)] == [left]

    async def test_an_end_set_by_a_caller_outlives_the_episode_that_also_ended_the_fact(
        self, store: Graph
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Anna Bell", "LEADS", "Guild")], "")
        [stored] = await around(store, space)
        one = passage(space, "d1", "Note", TEXT)
        found = ExtractionResult(contradicted=(Contradicted(stored.uuid, day("2021-01-01")),))
        await store.extractions.add_extraction(space, one, found, "")
        await store.end_fact(space, stored.uuid, day("2022-01-01"))
        assert (await store.delete_episodes(space, [one.uuid])).revived == 0
        assert [stored.invalid_at for stored in await around(store, space)] == [day("2022-01-01")]

    async def test_deleting_an_episode_removes_its_description_and_all_later_ones(
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

    async def test_the_extraction_of_a_changed_text_replaces_the_previous_one(
        self, store: Graph
    ) -> None:
        space = new_space()
        one = passage(space, "d1", "Note", TEXT)
        found = ExtractionResult(facts=(extracted(one, "Anna Bell", "LEADS", "Guild"),))
        await store.extractions.add_extraction(space, one, found, "")
        changed = replace(one, content="Anna Bell left the Guild.")
        assert await store.extractions.unread(space, [changed]) == [changed]
        other = ExtractionResult(facts=(extracted(one, "Anna Bell", "LEFT", "Guild"),))
        await store.extractions.add_extraction(space, changed, other, "")
        assert [stored.relation for stored in await around(store, space)] == ["LEFT"]

    async def test_a_fact_ended_and_moved_by_one_write_is_found_by_words_as_known_before(
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
        element = extracted(one, "Mercury", "IS_IN", "Old Thermometer")
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

    async def test_changing_an_episodes_text_removes_its_extracted_findings_and_keeps_given_ones(
        self, store: Graph
    ) -> None:
        space = new_space()
        one, other = (passage(space, f"d{n}", f"Note {n}", TEXT) for n in (1, 2))
        only, both, late = (
            _found(f"The {part} works.", FindingOrigin.EXTRACTED)
            for part in ("front", "back", "side")
        )
        from_one = ExtractionResult(
            findings=tuple(replace(f, episodes=(one.uuid,)) for f in (only, both))
        )
        await store.extractions.add_extraction(space, one, from_one, "m")
        from_other = ExtractionResult(findings=(replace(both, episodes=(other.uuid,)),))
        await store.extractions.add_extraction(space, other, from_other, "m")
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

    async def test_an_embedder_of_another_model_than_the_spaces_is_refused(
        self, store: Graph
    ) -> None:
        space = new_space()
        one, two = (StubEmbedder(model, DIMENSION) for model in ("one", "two"))
        assert await SpaceModels(store.embeddings, two).embedder(space) is two
        await store.add_facts(space, [fact("Aaa Bbb", "IS", "Ccc Ddd", embedding=unit(1))], "one")
        assert await SpaceModels(store.embeddings, one).embedder(space) is one
        with pytest.raises(WrongStateError):
            await SpaceModels(store.embeddings, two).embedder(space)

    async def test_an_extraction_with_another_model_is_refused_and_nothing_is_written(
        self, store: Graph
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Aaa Bbb", "IS", "Ccc Ddd", embedding=unit(1))], "one")
        one = passage(space, "d1", "Note", TEXT)
        with pytest.raises(WrongStateError):
            await store.extractions.add_extraction(space, one, ExtractionResult(), "two")
        assert (await store.stats(space)).episodes == 0

    async def test_extractions_of_episodes_with_the_same_id_are_separate_for_each_space(
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
    """Adds the only fact between two entities; returns its uuid."""
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
    """Returns the episodes of every finding in a space."""
    places = await store.findings.list_findings(space, FindingFilter(), None, 10)
    found = await store.findings.findings(space, [place.uuid for place in places])
    return {
        one.fields.statement: [cited.chunk_id for cited in one.citations] for one in found.values()
    }
