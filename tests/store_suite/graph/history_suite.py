"""The contract of graph stores for listings, histories, differences and versions of facts.

Complements the comparison with the reference table in `test_bitemporal.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import pytest

from services.graph_query.core.domain import EntityName, Fact, FactFilter
from services.graph_query.core.intervals import OPEN, end_of, start_of
from services.graph_query.core.store import GraphStore
from services.graph_query.history.domain import (
    HistoryStore,
    Page,
    Place,
    Position,
    Scope,
    Selector,
    Times,
)
from services.graph_query.history.summary import grouped
from services.runtime.errors import NotFoundError
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, new_space, passage

LATER = day("2100-01-01").timestamp()
UNKNOWN = "00000000-0000-5000-8000-000000000000"


class Store(GraphStore, Protocol):
    """A graph store with histories."""

    @property
    def history(self) -> HistoryStore: ...


def named(name: str, kind: str = "") -> Selector:
    """Selects an entity by its name key."""
    return Selector(name_key=name, type=kind)


def _place(one: Fact) -> Place:
    return Place(start_of(one.valid_at), end_of(one.invalid_at), one.uuid)


async def two_terms(store: Store) -> str:
    """Creates a space in which a person leads a guild in two separate periods."""
    space = new_space()
    rows = [
        ("Anna Bell", "LEADS", "Guild", "2000-01-01", "2004-01-01"),
        ("Anna Bell", "LEADS", "Guild", "2008-01-01", None),
        ("Karl Otto", "LEADS", "Guild", "2004-01-01", "2008-01-01"),
        ("Anna Bell", "LIVES_IN", "Vienna Hall", None, "2006-01-01"),
        ("Anna Bell", "LIVES_IN", "Graz Town", "2006-01-01", None),
        ("Anna Bell", "KNOWS", "Karl Otto", None, None),
    ]
    facts = [
        fact(a, relation, b, valid_at=since and day(since), invalid_at=until and day(until))
        for a, relation, b, since, until in rows
    ]
    await store.add_facts(space, facts, "")
    return space


class HistorySuite:
    """Listings, histories, differences and versions."""

    async def test_a_listing_is_ordered_by_time_and_continues_after_a_position(
        self, store: Store
    ) -> None:
        space = await two_terms(store)
        whole = await store.history.list_facts(space, Scope(), ALWAYS, None, 10)
        assert [start_of(one.valid_at) for one in whole[:2]] == [-OPEN, -OPEN]
        found = []
        after: Position | None = None
        while page := await store.history.list_facts(space, Scope(), ALWAYS, after, 2):
            found += page
            after = Position(start_of(page[-1].valid_at), page[-1].uuid)
        assert found == whole

    async def test_a_page_does_not_change_when_a_fact_is_written_before_its_position(
        self, store: Store
    ) -> None:
        space = await two_terms(store)
        first = await store.history.list_facts(space, Scope(), ALWAYS, None, 4)
        rest = await store.history.list_facts(
            space, Scope(), ALWAYS, Position(start_of(first[-1].valid_at), first[-1].uuid), 10
        )
        early = fact("Zoe Zimmer", "LEADS", "Guild", valid_at=day("1990-01-01"))
        await store.add_facts(space, [early], "")
        again = await store.history.list_facts(
            space, Scope(), ALWAYS, Position(start_of(first[-1].valid_at), first[-1].uuid), 10
        )
        assert again == rest

    async def test_subject_relation_and_object_must_all_match(self, store: Store) -> None:
        space = await two_terms(store)
        scope = Scope(subject=named("anna bell"), object=named("guild"), relation="leads")
        found = await store.history.list_facts(space, scope, ALWAYS, None, 10)
        assert [one.valid_at for one in found] == [day("2000-01-01"), day("2008-01-01")]
        for other in (
            Scope(subject=named("guild")),
            Scope(object=named("anna bell")),
            Scope(subject=named("anna bell"), object=named("graz town"), relation="leads"),
            Scope(relation="LEAD"),
        ):
            assert await store.history.list_facts(space, other, ALWAYS, None, 10) == []

    @pytest.mark.parametrize(
        ("relation", "asked"),
        [
            ("Fiancée of", "FIANCEE  OF"),
            ("fiancee of", "Fiancée of"),
            ("владеет", "ВЛАДЕЕТ"),
            ("editor-in-chief is", "Editor‑in‑Chief is"),
            ("मालिक है", "मालिक  है"),
            ("日本の船", "日本の船"),
        ],
    )
    async def test_a_relation_is_found_in_any_spelling(
        self, store: Store, relation: str, asked: str
    ) -> None:
        space = new_space()
        about = fact("Anna Bell", relation, "Graz Town", valid_at=day("2001-01-01"))
        other = fact("Anna Bell", "LIKES", "Graz Town")
        added = await store.add_facts(space, [about, other, replace(about, relation=asked)], "")
        assert (added.added, added.unchanged) == (2, 1)
        for known in (None, LATER):
            scope = Scope(relation=asked, known=known)
            found = await store.history.list_facts(space, scope, ALWAYS, None, 10)
            assert [one.relation for one in found] == [relation]
        life = await store.history.life(space, named("anna bell"), asked, None)
        assert [one.relation for one in life.moments] == [relation]
        only = replace(ALWAYS, relation=asked)
        hits = await store.search_words(space, ["graz", "anna"], ["graz town"], only, 10)
        assert len(hits.text) == len(hits.entity) == 1
        in_full = await store.facts(space, [hits.text[0].uuid])
        assert [one.relation for one in in_full.values()] == [relation]

    async def test_attributes_are_returned_as_given(self, store: Store) -> None:
        space = new_space()
        parameters = {"title": "Dr", "grade": 3.5, "paid": True}
        await store.add_facts(space, [fact("Anna Bell", "IS", "Nurse", attributes=parameters)], "")
        found = await store.history.list_facts(space, Scope(), ALWAYS, None, 10)
        assert found[0].attributes == parameters

    async def test_a_filter_by_a_shared_name_matches_all_entities_with_that_name(
        self, store: Store
    ) -> None:
        space = await homonyms(store)
        scope = Scope(subject=named("mercury"))
        found = await store.history.list_facts(space, scope, ALWAYS, None, 10)
        assert {one.source.type for one in found} == {"Element", "Planet"}
        typed = Scope(subject=named("mercury", "Planet"))
        found = await store.history.list_facts(space, typed, ALWAYS, None, 10)
        assert [one.target.name for one in found] == ["Sun Star"]

    async def test_a_history_of_an_ambiguous_name_returns_only_the_homonyms(
        self, store: Store
    ) -> None:
        space = await homonyms(store)
        ambiguous = await store.history.life(space, named("mercury"), "", None)
        assert ambiguous.entity is None
        assert {one.type for one in ambiguous.homonyms} == {"Element", "Planet"}
        assert ambiguous.moments == ()
        chosen = await store.history.life(space, named("mercury", "Element"), "", None)
        assert chosen.entity is not None
        assert [one.relation for one in chosen.moments] == ["IS_IN"]
        by_uuid = await store.history.life(space, Selector(uuid=chosen.entity.uuid), "", None)
        assert by_uuid == chosen

    async def test_pages_of_a_history_contain_every_fact_in_order(self, store: Store) -> None:
        space = await two_terms(store)
        for known in (None, LATER):
            whole = await store.history.life(space, named("anna bell"), "", known)
            places = sorted(one.place for one in whole.moments)
            found: list[Place] = []
            page = Page(limit=2, reference=day("2005-01-01").timestamp())
            while True:
                life = await store.history.life(space, named("anna bell"), "", known, page)
                rows = [_place(one) for one in life.page]
                if page.after is None:
                    assert sorted(life.moments) == sorted(whole.moments)
                    assert {one.relation for one in life.current} == {"LIVES_IN", "KNOWS"}
                else:
                    assert (life.moments, life.current) == ((), ())
                if not rows:
                    break
                found += rows
                page = replace(page, after=rows[-1])
            assert found == places
            assert len(found) == 5

    async def test_a_page_of_a_history_is_filtered_by_time_and_relation(self, store: Store) -> None:
        space = await two_terms(store)
        page = Page(limit=10, since=day("2004-01-01").timestamp())
        for known in (None, LATER):
            life = await store.history.life(space, named("anna bell"), "leads", known, page)
            assert [one.valid_at for one in life.page] == [day("2008-01-01")]
            assert len(life.moments) == 2

    async def test_an_entity_of_another_space_is_not_found(self, store: Store) -> None:
        space, other = await two_terms(store), new_space()
        life = await store.history.life(space, named("anna bell"), "", None)
        assert life.entity is not None
        theirs = Selector(uuid=life.entity.uuid)
        now = max(one.created for one in life.moments) + 1
        for selector in (theirs, named("anna bell"), Selector(uuid=UNKNOWN)):
            for known in (None, now):
                with pytest.raises(NotFoundError):
                    await store.history.life(other, selector, "", known)
                scope = Scope(either=selector, known=known)
                assert await store.history.list_facts(other, scope, ALWAYS, None, 10) == []
                times = Times(at("2001-01-01"), at("2005-01-01"))
                assert await store.history.differences(other, scope, times, 10) == []
        uuids = [one.uuid for one in life.moments]
        for known in (None, now):
            assert await store.history.facts_known(other, uuids, known) == {}
        assert await store.history.versions(other, uuids[0], 10) == []

    async def test_a_statement_valid_in_two_periods_is_no_difference_between_them(
        self, store: Store
    ) -> None:
        space = await two_terms(store)
        scope = Scope(relation="LEADS")
        same = Times(at("2001-01-01"), at("2009-01-01"))
        assert await store.history.differences(space, scope, same, 10) == []
        between = Times(at("2001-01-01"), at("2005-01-01"))
        found = await store.history.differences(space, scope, between, 10)
        assert {one.held_before for one in found} == {True, False}

    async def test_a_different_object_of_the_same_subject_and_relation_is_a_change(
        self, store: Store
    ) -> None:
        space = await two_terms(store)
        times = Times(at("2005-01-01"), at("2007-01-01"))
        scope = Scope(either=named("anna bell"))
        diff = grouped(await store.history.differences(space, scope, times, 10), 10)
        facts = await store.history.facts_known(space, diff.uuids(), None)
        assert (diff.added, diff.ended, diff.changed_total) == ((), (), 1)
        assert [facts[uuid].target.name for uuid in diff.changed[0].before] == ["Vienna Hall"]
        assert [facts[uuid].target.name for uuid in diff.changed[0].after] == ["Graz Town"]

    async def test_different_attributes_are_a_change_and_equal_ones_are_not(
        self, store: Store
    ) -> None:
        space = new_space()
        spans = (("2000-01-01", "2005-01-01"), ("2005-01-01", "2010-01-01"), ("2010-01-01", None))
        for (since, until), title in zip(spans, ("clerk", "boss", "boss"), strict=True):
            result = fact(
                "Anna Bell",
                "WORKS_AT",
                "Guild",
                valid_at=day(since),
                invalid_at=until and day(until),
                attributes={"title": title},
            )
            await store.add_facts(space, [result], "")
        scope = Scope(subject=named("anna bell"))
        promoted = Times(at("2001-01-01"), at("2011-01-01"))
        diff = grouped(await store.history.differences(space, scope, promoted, 10), 10)
        assert (diff.added_total, diff.ended_total, diff.changed_total) == (0, 0, 1)
        same = Times(at("2006-01-01"), at("2011-01-01"))
        assert await store.history.differences(space, scope, same, 10) == []

    async def test_ranges_are_compared_by_the_facts_valid_at_any_time_within_them(
        self, store: Store
    ) -> None:
        space = await two_terms(store)
        first = FactFilter(day("2000-01-01").timestamp(), day("2005-01-01").timestamp() - 1e-6)
        times = Times(first, at("2009-01-01"))
        found = await store.history.differences(space, Scope(relation="LEADS"), times, 10)
        assert [one.held_before for one in found] == [True]

    async def test_a_deleted_fact_is_still_returned_as_known_before(self, store: Store) -> None:
        space = new_space()
        note = passage(space, "d1", "Note", "Nothing of interest.")
        await store.add_episodes(space, [note])
        result = fact("Anna Bell", "OWNS", "Payments", document_id="d1")
        await store.add_facts(space, [result], "")
        then = (await store.stats(space)).last_write
        assert then is not None
        await store.delete_episodes(space, [note.uuid])
        scope = Scope(either=named("payments"), known=then.timestamp())
        before = await store.history.list_facts(space, scope, ALWAYS, None, 10)
        assert [(one.source.name, one.target.name) for one in before] == [("Anna Bell", "Payments")]
        assert await store.history.list_facts(space, Scope(), ALWAYS, None, 10) == []
        versions = await store.history.versions(space, before[0].uuid, 10)
        assert [one.known_until is None for one in versions] == [False]

    async def test_an_empty_graph_has_no_facts_and_no_differences(self, store: Store) -> None:
        space = new_space()
        times = Times(at("2001-01-01"), at("2005-01-01"))
        for scope in (Scope(), Scope(known=0.0), Scope(relation="IS")):
            assert await store.history.list_facts(space, scope, ALWAYS, None, 10) == []
            assert await store.history.differences(space, scope, times, 10) == []


async def homonyms(store: Store) -> str:
    """Creates a space in which two entities share a name."""
    space = new_space()
    facts = [
        fact(EntityName("Mercury", "Planet"), "ORBITS", "Sun Star"),
        fact(EntityName("Mercury", "Element"), "IS_IN", "Old Thermometers"),
    ]
    await store.add_facts(space, facts, "")
    return space
