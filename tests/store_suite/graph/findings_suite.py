"""The contract of graph stores for findings, intents and outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import pytest

from services.graph_query.core.domain import EntityName
from services.graph_query.core.full_text import query_terms
from services.graph_query.core.store import GraphStore
from services.graph_query.findings.domain import (
    Bounds,
    Finding,
    FindingFields,
    FindingFilter,
    FindingKind,
    FindingOrigin,
    FindingStore,
    GivenFinding,
    Metric,
    MetricFilter,
    Position,
    Subject,
    named_uuid,
)
from services.graph_query.findings.planning import FOREIGN_EPISODE, ITSELF, TWICE, UNKNOWN_FINDING
from services.runtime.errors import WrongStateError
from tests.store_suite.graph.builders import DIMENSION, fact, new_space, passage, unit

ALL = FindingFilter()


class Graph(GraphStore, Protocol):
    """A graph store with findings."""

    @property
    def findings(self) -> FindingStore: ...


def finding(statement: str, **more: Any) -> GivenFinding:
    """Builds a given finding."""
    return _given(FindingKind.FINDING, statement, more)


def intent(statement: str, **more: Any) -> GivenFinding:
    """Builds a given intent."""
    return _given(FindingKind.INTENT, statement, more)


def outcome(statement: str, **more: Any) -> GivenFinding:
    """Builds a given outcome."""
    return _given(FindingKind.OUTCOME, statement, more)


def _given(kind: FindingKind, statement: str, more: dict[str, Any]) -> GivenFinding:
    names = set(FindingFields.__dataclass_fields__)
    parameters = {name: more.pop(name) for name in list(more) if name in names}
    return GivenFinding(FindingFields(kind, statement, **parameters), **more)


async def listed(
    store: Graph, space: str, only: FindingFilter = ALL, limit: int = 50
) -> list[Finding]:
    """Lists the findings that match a filter."""
    places = await store.findings.list_findings(space, only, None, limit)
    found = await store.findings.findings(space, [place.uuid for place in places])
    return [found[place.uuid] for place in places]


async def statements(store: Graph, space: str, only: FindingFilter = ALL) -> set[str]:
    """Returns the statements of the findings that match a filter."""
    return {one.fields.statement for one in await listed(store, space, only)}


async def searched(store: Graph, space: str, question: str, only: FindingFilter) -> set[str]:
    """Returns the statements that a search by words finds."""
    hits = await store.findings.findings_by_text(space, query_terms(question), only, 50)
    found = await store.findings.findings(space, [hit.uuid for hit in hits])
    return {found[hit.uuid].fields.statement for hit in hits}


RISK = finding(
    "Payments fail at night",
    type="Risk",
    confidence=0.95,
    methodology="Log review",
    about=(EntityName("Payments Service"),),
)
TREND = finding("Payments grow each month", type="trend", confidence=0.9)
GUESS = finding("Payments may move to Oslo")
MOVE = intent("Move payments to the new cluster", status="Active", priority=3, owner="Anna Bell")
LATER = intent("Rename the payments queue", status="planned", priority=1, owner="Karl Otto")
MOVED = outcome(
    "Payments moved with a delay",
    metrics=(Metric("Delay", 3.5, "days"), Metric("Errors", 12)),
    blockers=("No staging cluster",),
)
EVERYTHING = (RISK, TREND, GUESS, MOVE, LATER, MOVED)

FILTERS = [
    (ALL, EVERYTHING),
    (FindingFilter(kinds=frozenset({FindingKind.INTENT})), (MOVE, LATER)),
    (FindingFilter(kinds=frozenset({FindingKind.FINDING, FindingKind.OUTCOME})), (RISK, TREND, GUESS, MOVED)),
    (FindingFilter(type="risk"), (RISK,)),
    (FindingFilter(type="ris"), ()),
    (FindingFilter(confidence=Bounds(0.9, 1.0)), (RISK, TREND)),
    (FindingFilter(confidence=Bounds(0.9000001, 1.0)), (RISK,)),
    (FindingFilter(confidence=Bounds(-1e300, 1e300)), (RISK, TREND)),
    (FindingFilter(methodology="log review"), (RISK,)),
    (FindingFilter(status="active"), (MOVE,)),
    (FindingFilter(priorities=frozenset({3, 4})), (MOVE,)),
    (FindingFilter(owner="karl otto"), (LATER,)),
    (FindingFilter(metric=MetricFilter("delay", Bounds(3.5, 9))), (MOVED,)),
    (FindingFilter(metric=MetricFilter("delay", Bounds(4, 9))), ()),
    (FindingFilter(metric=MetricFilter("errors", Bounds(-1e300, 5))), ()),
    (FindingFilter(blocker="no staging cluster"), (MOVED,)),
    (FindingFilter(has_blockers=True), (MOVED,)),
    (FindingFilter(has_blockers=False, kinds=frozenset({FindingKind.OUTCOME})), ()),
    (FindingFilter(about=Subject("payments service")), (RISK,)),
    (FindingFilter(about=Subject("payments")), ()),
    (FindingFilter(origin=FindingOrigin.GIVEN), EVERYTHING),
    (FindingFilter(origin=FindingOrigin.EXTRACTED), ()),
    (FindingFilter(created_from=0.0), EVERYTHING),
    (FindingFilter(created_until=0.0), ()),
    (FindingFilter(uuids=()), ()),
    (FindingFilter(type="risk", confidence=Bounds(0.0, 0.5)), ()),
]  # fmt: skip


class FindingsSuite:
    """Adding, listing, searching and deleting findings."""

    async def test_adding_the_same_findings_again_changes_nothing(self, store: Graph) -> None:
        space = new_space()
        first = await store.findings.add_findings(space, EVERYTHING, "")
        again = await store.findings.add_findings(space, EVERYTHING, "")
        assert (first.added, first.updated, first.unchanged) == (6, 0, 0)
        assert (again.added, again.updated, again.unchanged) == (0, 0, 6)
        assert (again.uuids, again.revision) == (first.uuids, first.revision)

    async def test_all_fields_are_returned_as_given(self, store: Graph) -> None:
        space = new_space()
        await store.findings.add_findings(space, EVERYTHING, "")
        found = {one.fields for one in await listed(store, space)}
        assert found == {given.fields for given in EVERYTHING}

    @pytest.mark.parametrize(("only", "passing"), FILTERS)
    async def test_every_filter_applies_to_listings_and_to_searches_by_words_and_by_vector(
        self, store: Graph, only: FindingFilter, passing: tuple[GivenFinding, ...]
    ) -> None:
        space = new_space()
        given = [replace(one, embedding=unit(1, n / 10)) for n, one in enumerate(EVERYTHING)]
        await store.findings.add_findings(space, given, "model")
        expected = {one.fields.statement for one in passing}
        assert await statements(store, space, only) == expected
        assert await searched(store, space, "payments", only) == expected
        for exact in (True, False):
            near = await store.findings.findings_by_vector(space, unit(1), only, 50, exact=exact)
            found = await store.findings.findings(space, [hit.uuid for hit in near])
            assert {one.fields.statement for one in found.values()} == expected

    async def test_a_filtered_vector_search_finds_a_match_behind_many_nearer_findings(
        self, store: Graph
    ) -> None:
        space = new_space()
        near = [finding(f"Note {n}", type="note", embedding=unit(1, n / 100)) for n in range(120)]
        far = finding("The one", type="Ünlikely", embedding=unit(0.1, 1))
        await store.findings.add_findings(space, [*near, far], "model")
        for exact in (True, False):
            only = FindingFilter(type="ünlikely")
            hits = await store.findings.findings_by_vector(space, unit(1), only, 1, exact=exact)
            assert [hit.uuid for hit in hits] == [
                one.uuid for one in await listed(store, space, only)
            ]

    async def test_a_vector_search_orders_findings_by_cosine(self, store: Graph) -> None:
        space = new_space()
        given = [finding(f"F{n}", embedding=unit(1, n)) for n in (2, 0, 1)]
        added = await store.findings.add_findings(space, given, "model")
        for exact in (True, False):
            hits = await store.findings.findings_by_vector(space, unit(1), ALL, 2, exact=exact)
            assert [hit.uuid for hit in hits] == [added.uuids[1], added.uuids[2]]
            assert hits[0].score == pytest.approx(1, abs=0.01)

    async def test_a_finding_is_found_by_the_words_of_all_its_fields(self, store: Graph) -> None:
        space = new_space()
        await store.findings.add_findings(space, EVERYTHING, "")
        assert await searched(store, space, "staging", ALL) == {MOVED.fields.statement}
        assert await searched(store, space, "delay", ALL) == {MOVED.fields.statement}
        assert await searched(store, space, "Karl", ALL) == {LATER.fields.statement}

    async def test_pages_contain_every_finding_exactly_once(self, store: Graph) -> None:
        space = new_space()
        names = [f"Finding {n}" for n in range(9)]
        for start in (0, 4):
            some = [finding(name) for name in names[start : start + 5]]
            await store.findings.add_findings(space, some, "")
        seen: list[Position] = []
        after = None
        while page := await store.findings.list_findings(space, ALL, after, 2):
            seen += page
            after = page[-1]
        assert len(set(seen)) == len(seen) == len(names)
        assert [place.created for place in seen] == sorted((p.created for p in seen), reverse=True)

    async def test_a_finding_with_the_callers_id_can_be_updated(self, store: Graph) -> None:
        space = new_space()
        about = (EntityName("Old Cluster"),)
        first = intent("Move", id="move-1", status="planned", owner="Anna Bell", about=about)
        added = await store.findings.add_findings(space, [first], "")
        second = intent("Move", id="move-1", status="done", about=(EntityName("New Cluster"),))
        changed = await store.findings.add_findings(space, [second], "")
        assert (changed.added, changed.updated, changed.uuids) == (0, 1, added.uuids)
        (stored,) = await listed(store, space)
        assert (stored.fields, stored.id) == (second.fields, "move-1")
        assert [end.name for end in stored.about] == ["New Cluster"]
        assert stored.updated_at > stored.created_at
        assert await statements(store, space, FindingFilter(about=Subject("old cluster"))) == set()

    async def test_a_finding_may_be_about_another_finding_of_the_call_or_of_the_space(
        self, store: Graph
    ) -> None:
        space = new_space()
        base = finding("Latency rises", id="base")
        second = finding("That is well measured", about_findings=("base",))
        added = await store.findings.add_findings(space, [second, base], "")
        third = finding("That is disputed", about_findings=(added.uuids[0],))
        await store.findings.add_findings(space, [third], "")
        only = FindingFilter(about_findings=(named_uuid(space, "base"),))
        assert await statements(store, space, only) == {"That is well measured"}
        only = FindingFilter(about_findings=(added.uuids[0],))
        (found,) = await listed(store, space, only)
        assert (found.fields, found.about_findings) == (third.fields, (added.uuids[0],))

    async def test_findings_with_invalid_references_are_refused_and_the_rest_is_stored(
        self, store: Graph
    ) -> None:
        space, other = new_space(), new_space()
        theirs = passage(other, "d1", "Note", "Nothing.")
        await store.add_episodes(other, [theirs])
        foreign = await store.findings.add_findings(other, [finding("Theirs")], "")
        given = [
            finding("Ours"),
            finding("From theirs", episodes=(theirs.uuid,)),
            finding("About theirs", about_findings=foreign.uuids),
            finding("About nothing", id="lost", about_findings=("nothing",)),
            finding("About the lost", about_findings=("lost",)),
            finding("Selfish", id="self", about_findings=("self",)),
            finding("One", id="twice"),
            finding("Two", id="twice"),
        ]
        added = await store.findings.add_findings(space, given, "")
        assert added.refused == (
            (1, FOREIGN_EPISODE),
            (2, UNKNOWN_FINDING),
            (3, UNKNOWN_FINDING),
            (4, UNKNOWN_FINDING),
            (5, ITSELF),
            (7, TWICE),
        )
        assert [bool(uuid) for uuid in added.uuids] == [True, *[False] * 5, True, False]
        assert await statements(store, space) == {"Ours", "One"}

    async def test_a_finding_is_deleted_with_the_last_of_its_episodes(self, store: Graph) -> None:
        space = new_space()
        notes = [passage(space, f"d{n}", "Note", f"Part {n}.") for n in (1, 2)]
        await store.add_episodes(space, notes)
        both = finding("From both", episodes=(notes[0].uuid,), embedding=unit(1))
        only = finding("From one", episodes=(notes[0].uuid,), embedding=unit(1))
        about = finding("About one", id="about", about_findings=("one",))
        await store.findings.add_findings(
            space, [both, replace(only, id="one"), about, finding("Given")], "model"
        )
        again = await store.findings.add_findings(
            space, [replace(both, episodes=(notes[1].uuid,))], ""
        )
        assert (again.added, again.updated) == (0, 1)
        gone = await store.delete_episodes(space, [notes[0].uuid])
        assert gone.findings == 1
        left = {one.fields.statement: one for one in await listed(store, space)}
        assert left.keys() == {"From both", "About one", "Given"}
        assert left["About one"].about_findings == ()
        assert [cited.chunk_id for cited in left["From both"].citations] == [notes[1].uuid]
        assert (await store.findings.finding_state(space)).vectors == 1

    async def test_a_finding_survives_the_replacement_of_its_episode(self, store: Graph) -> None:
        space = new_space()
        note = passage(space, "d1", "Note", "Anna Bell met Karl Otto.")
        await store.add_episodes(space, [note])
        await store.findings.add_findings(space, [finding("They met", episodes=(note.uuid,))], "")
        await store.add_episodes(space, [replace(note, title="Anna Bell")])
        (found,) = await listed(store, space, FindingFilter(episode=note.uuid))
        assert [(cited.chunk_id, cited.title) for cited in found.citations] == [
            (note.uuid, "Anna Bell")
        ]

    async def test_a_finding_is_linked_to_an_entity_that_is_created_later(
        self, store: Graph
    ) -> None:
        space = new_space()
        about = (EntityName("mercury  RECORDS"), EntityName("Mercury", "Element"))
        await store.findings.add_findings(space, [finding("Sells", about=about)], "")
        (early,) = await listed(store, space)
        assert {(end.uuid, end.name) for end in early.about} == {
            ("", "mercury RECORDS"),
            ("", "Mercury"),
        }
        rows = [
            fact("Mercury Records", "SIGNED", EntityName("Mercury", "Band")),
            fact(EntityName("Mercury", "Element"), "IS_IN", "Old Thermometers"),
        ]
        await store.add_facts(space, rows, "")
        (late,) = await listed(store, space)
        assert {(end.name, end.type) for end in late.about} == {
            ("Mercury Records", ""),
            ("Mercury", "Element"),
        }
        assert all(end.uuid for end in late.about)
        band = FindingFilter(about=Subject("mercury", "Band"))
        element = FindingFilter(about=Subject("mercury", "Element"))
        assert await statements(store, space, band) == set()
        assert await statements(store, space, element) == {"Sells"}

    async def test_a_vector_can_be_added_later_and_is_removed_when_the_statement_changes(
        self, store: Graph
    ) -> None:
        space = new_space()
        await store.findings.add_findings(space, [finding("Bare", id="f")], "")
        late = finding("Bare", id="f", embedding=unit(1))
        added = await store.findings.add_findings(space, [late], "model")
        assert (added.updated, added.without_vector) == (1, 0)
        assert (await store.findings.finding_state(space))[1:] == (1, "model", DIMENSION)
        other = await store.findings.add_findings(space, [finding("Other", id="f")], "")
        assert other.without_vector == 1
        assert (await store.findings.finding_state(space)).vectors == 0
        assert await store.findings.findings_by_vector(space, unit(1), ALL, 5, exact=True) == []

    async def test_vectors_of_another_model_are_refused(self, store: Graph) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Aaa Bbb", "IS", "Ccc", embedding=unit(1))], "one")
        with pytest.raises(WrongStateError):
            await store.findings.add_findings(space, [finding("F", embedding=unit(1))], "two")

    async def test_findings_of_another_space_are_never_returned(self, store: Graph) -> None:
        space, other = new_space(), new_space()
        added = await store.findings.add_findings(space, [replace(RISK, embedding=unit(1))], "m")
        only = FindingFilter(uuids=added.uuids)
        assert await statements(store, other, only) == set()
        assert await searched(store, other, "payments", ALL) == set()
        assert await store.findings.findings(other, added.uuids) == {}
        for exact in (True, False):
            assert (
                await store.findings.findings_by_vector(other, unit(1), ALL, 5, exact=exact) == []
            )

    @pytest.mark.parametrize("text", ['"', "`x` OR 1=1", "a\nb", "(AND] *:* \\", "x" * 4000, "Ω≠ß"])
    async def test_any_text_is_stored_and_searched_as_text(self, store: Graph, text: str) -> None:
        space = new_space()
        odd = finding(
            text, type=text[:90], methodology=text, id=text[:90], about=(EntityName(text[:90]),)
        )
        await store.findings.add_findings(space, [odd], "")
        (stored,) = await listed(store, space)
        assert stored.fields == odd.fields
        await searched(store, space, text, ALL)
