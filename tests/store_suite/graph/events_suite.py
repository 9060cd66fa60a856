"""The contract of graph stores for events: they happen on a day and are not part of the later state."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Protocol

import pytest

from services.graph_query.core.domain import Fact, FactFilter, GivenFact
from services.graph_query.core.full_text import name_candidates, query_terms
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.store import GraphStore, SpaceState
from services.graph_query.entities.domain import EntityStore
from services.graph_query.history.domain import HistoryStore, Page, Scope, Selector, Times
from services.graph_query.history.summary import summarize
from services.graph_query.ontology.domain import Ontology, OntologyStore, RelationType
from services.graph_query.search.as_known import AsKnownStore, Known
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, new_space, unit
from tests.store_suite.graph.structure_suite import only_uuid

EVENTS = Ontology(relation_types=(RelationType("Caused", event=True), RelationType("OWNS")))
DAY, NEXT_DAY = day("2024-04-18"), day("2024-04-19")
BEFORE, MORNING, LATER = at("2024-04-17"), at("2024-04-18"), at("2024-06-01")
APRIL = FactFilter(day("2024-04-01").timestamp(), day("2024-04-30").timestamp())
JUNE = FactFilter(day("2024-06-01").timestamp(), day("2024-06-30").timestamp())
LEDGER = Selector(name_key="harbour ledger")


class Store(GraphStore, Protocol):
    """A graph store with histories, searches as known at a time, entities and ontologies."""

    @property
    def history(self) -> HistoryStore: ...

    @property
    def as_known(self) -> AsKnownStore: ...

    @property
    def entities(self) -> EntityStore: ...

    @property
    def ontologies(self) -> OntologyStore: ...


def caused(**more: object) -> GivenFact:
    """Builds a fact that is an event."""
    parameters = {"relation": "CAUSED", "valid_at": DAY, "embedding": unit(1), **more}
    return fact("Harbour Ledger", str(parameters.pop("relation")), "Great Flood", **parameters)


async def filled(store, *facts: GivenFact) -> str:  # type: ignore[no-untyped-def]
    """Creates a space with facts and with an ontology that marks one relation as an event."""
    space = new_space()
    await store.add_facts(space, list(facts), "model")
    await store.ontologies.put_ontology(space, EVENTS, None)
    return space


async def found_by(store, space: str, only: FactFilter) -> dict[str, list[Fact]]:  # type: ignore[no-untyped-def]
    """Returns what each kind of search or listing finds at a time."""
    asked = "what did the harbour ledger do"
    words = await store.search_words(space, query_terms(asked), name_candidates(asked), only, 10)
    near = await store.search_vector(space, unit(1), only, 10, exact=True)
    by_index = await store.search_vector(space, unit(1), only, 10, exact=False)
    of_relation = replace(only, relation="caused")
    by_relation = await store.search_vector(space, unit(1), of_relation, 10, exact=False)
    ledger = await only_uuid(store, space, "Harbour Ledger")
    steps = await store.entities.steps(space, [ledger], only, 10, local=False)
    pairs = [(one.source, one.target) for one in steps]
    joined = await store.entities.joining(space, pairs, only, local=False)
    uuids = {
        name: [hit.uuid for hit in hits]
        for name, hits in (
            ("text", words.text),
            ("entity", words.entity),
            ("near", near),
            ("near by index", by_index),
            ("near of relation", by_relation),
        )
    }
    found = {
        name: list((await store.facts(space, value)).values()) for name, value in uuids.items()
    }
    return found | {
        "neighborhood": list(
            (await store.neighborhood(space, "harbour ledger", "", 9, only)).edges
        ),
        "joined": list(joined.values()),
        "listed": await store.history.list_facts(space, Scope(), only, None, 10),
        "of_relation": await store.history.list_facts(
            space, Scope(relation="caused"), only, None, 10
        ),
        "of_subject": await store.history.list_facts(space, Scope(subject=LEDGER), only, None, 10),
        "of_entity": await store.history.list_facts(space, Scope(either=LEDGER), only, None, 10),
    }


async def known_by(store, space: str, only: FactFilter, known: float) -> dict[str, list[str]]:  # type: ignore[no-untyped-def]
    """Returns the uuids that each kind of search or listing finds at a time, as known at another."""
    asked = "what did the harbour ledger do"
    at_all, first = Known(only, known, 10), Known(only, known, 1)
    words = await store.as_known.search_words_known(
        space, query_terms(asked), name_candidates(asked), at_all
    )
    small, large = (SpaceState(1, vectors, "model") for vectors in (1, 100_000))
    near, _ = await store.as_known.search_vector_known(space, unit(1), at_all, small)
    by_index, _ = await store.as_known.search_vector_known(space, unit(1), first, large)
    found = {"text": words.text, "entity": words.entity, "near": near, "near by index": by_index}
    scopes = {
        "listed": Scope(known=known),
        "of_subject": Scope(subject=LEDGER, known=known),
        "of_entity": Scope(either=LEDGER, known=known),
    }
    listed = {
        name: await store.history.list_facts(space, scope, only, None, 10)
        for name, scope in scopes.items()
    }
    return {name: [one.uuid for one in hits] for name, hits in (found | listed).items()}


async def counts_at(
    store: Store, space: str, only: FactFilter, known: float | None = None
) -> list[int]:
    """Counts the facts valid at a time: in the space, of an entity, of a relation."""
    scopes = (
        Scope(lasting=True, known=known),
        Scope(either=LEDGER, lasting=True, known=known),
        Scope(relation="caused", lasting=True, known=known),
    )
    return [len(await store.history.list_facts(space, one, only, None, 9)) for one in scopes]


class EventsSuite:
    """Facts whose relation is an event of the ontology."""

    async def test_a_fact_shows_whether_it_is_an_event(self, store: Store) -> None:
        owns = fact("Anna Bell", "OWNS", "Harbour Ledger", valid_at=DAY)
        space = await filled(store, caused(), owns)
        (event,) = await store.history.list_facts(space, Scope(relation="caused"), ALWAYS, None, 9)
        (state,) = await store.history.list_facts(space, Scope(relation="owns"), ALWAYS, None, 9)
        assert (event.happened, state.happened) == (True, False)
        await store.ontologies.put_ontology(space, Ontology(), None)
        (event,) = await store.history.list_facts(space, Scope(relation="caused"), ALWAYS, None, 9)
        assert not event.happened

    @pytest.mark.parametrize("end", [None, NEXT_DAY])
    async def test_an_event_is_found_from_its_day_on_and_is_marked_as_an_event(
        self, store: Store, end: object
    ) -> None:
        space = await filled(store, caused(invalid_at=end))
        for only, number in ((BEFORE, 0), (MORNING, 1), (LATER, 1), (APRIL, 1)):
            for kind, facts in (await found_by(store, space, only)).items():
                assert [one.happened for one in facts] == [True] * number, kind

    async def test_an_event_as_currently_known_is_found_from_its_day_on(self, store: Store) -> None:
        space = await filled(store, caused(invalid_at=NEXT_DAY))
        known = day("2999-01-01").timestamp()
        for only, number in ((BEFORE, 0), (MORNING, 1), (LATER, 1), (APRIL, 1), (JUNE, 0)):
            for kind, uuids in (await known_by(store, space, only, known)).items():
                assert len(uuids) == number, (kind, only)

    async def test_an_event_as_known_before_a_change_is_found_from_its_day_on(self, store) -> None:  # type: ignore[no-untyped-def]
        """The event's end changed since, so that only its earlier version is a past event."""
        space = await filled(store, caused(invalid_at=NEXT_DAY))
        then = (await store.stats(space)).last_write.timestamp()
        (listed,) = await store.history.list_facts(space, Scope(), ALWAYS, None, 9)
        await store.end_fact(space, listed.uuid, DAY + timedelta(hours=6))
        for only, number in ((BEFORE, 0), (MORNING, 1), (LATER, 1)):
            for kind, uuids in (await known_by(store, space, only, then)).items():
                assert len(uuids) == number, (kind, only)
        known = day("2999-01-01").timestamp()
        assert not any((await known_by(store, space, LATER, known)).values())

    @pytest.mark.parametrize("known", [None, day("2999-01-01").timestamp()])
    @pytest.mark.parametrize("scope", [Scope(), Scope(either=LEDGER)])
    @pytest.mark.parametrize("end", [None, NEXT_DAY])
    async def test_a_difference_of_two_times_has_the_events_that_happened_between_them(
        self, store: Store, end: object, scope: Scope, known: float | None
    ) -> None:
        space = await filled(store, caused(invalid_at=end))
        scope = replace(scope, known=known)
        for before, after, found in (
            (BEFORE, LATER, [False]),
            (BEFORE, JUNE, [False]),
            (BEFORE, MORNING, [False]),
            (MORNING, LATER, []),
            (LATER, JUNE, []),
            (at("2024-04-01"), BEFORE, []),
        ):
            times = Times(before, after)
            result = await store.history.differences(space, scope, times, 9)
            assert [one.held_before for one in result] == found, times

    async def test_a_version_of_an_event_is_marked_as_an_event(self, store: Store) -> None:
        space = await filled(store, caused(relation="CAUSÉ PAR"))
        ontology = Ontology(relation_types=(RelationType("Causé par", event=True),))
        await store.ontologies.put_ontology(space, ontology, None)
        (listed,) = await store.history.list_facts(space, Scope(), ALWAYS, None, 9)
        (version,) = await store.history.versions(space, listed.uuid, 9)
        assert (listed.event, version.fact.event) == (True, True)

    async def test_an_event_with_an_end_is_not_found_in_a_later_period(self, store: Store) -> None:
        space = await filled(store, caused(invalid_at=NEXT_DAY))
        assert not any((await found_by(store, space, JUNE)).values())

    async def test_an_event_is_not_part_of_the_state_after_its_day(self, store: Store) -> None:
        space = await filled(store, caused())
        assert await counts_at(store, space, MORNING) == [1, 1, 1]
        assert await counts_at(store, space, LATER) == [0, 0, 0]
        known = day("2999-01-01").timestamp()
        assert await counts_at(store, space, MORNING, known) == [1, 1, 1]
        assert await counts_at(store, space, LATER, known) == [0, 0, 0]

    @pytest.mark.parametrize("known", [None, day("2999-01-01").timestamp()])
    async def test_a_history_lists_an_event_as_current_only_on_its_day(
        self, store: Store, known: float | None
    ) -> None:
        space = await filled(store, caused())
        for when, current in ((MORNING, 1), (LATER, 0)):
            page = Page(limit=9, since=-OPEN, reference=when.since)
            life = await store.history.life(space, LEDGER, "", known, page)
            result = summarize(life, life.moments, when.since)
            assert (len(life.page), len(life.current), result.current_total) == (
                1,
                current,
                current,
            )
            assert result.never_changed
        for when, number in ((MORNING, 1), (LATER, 0)):
            (details,) = await store.entities.entities(space, LEDGER, when.since)
            assert details.facts == number

    async def test_an_event_relation_of_several_days_is_valid_until_its_end(
        self, store: Store
    ) -> None:
        space = await filled(store, caused(invalid_at=day("2024-04-21")))
        (lasted,) = await store.history.list_facts(space, Scope(), ALWAYS, None, 9)
        assert not lasted.happened
        assert await counts_at(store, space, at("2024-04-20")) == [1, 1, 1]
        assert not any((await found_by(store, space, LATER)).values())

    async def test_a_one_day_fact_without_an_event_relation_is_not_found_later(
        self, store: Store
    ) -> None:
        result = fact("Harbour Ledger", "HELD", "Great Fair", valid_at=DAY, invalid_at=NEXT_DAY)
        space = await filled(store, result)
        (fair,) = await store.history.list_facts(space, Scope(), MORNING, None, 9)
        assert fair.happened
        assert not any((await found_by(store, space, LATER)).values())
