"""Every store matches the reference table in both times after random additions, endings and deletions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Protocol

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import Fact, FactFilter, GivenFact
from services.graph_query.core.identity import entity_uuid, fact_uuid
from services.graph_query.core.intervals import end_of, is_reversed, start_of
from services.graph_query.core.names import name_key
from services.graph_query.core.store import GraphStore
from services.graph_query.history.domain import HistoryStore, Scope, Selector, Times
from services.runtime.errors import NotFoundError
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.bitemporal import ALWAYS, Row, Table, differences, row_of, statement
from tests.store_suite.graph.builders import at, day, fact, new_space, passage
from tests.store_suite.graph.neo4j_graph import opened

NAMES = ("Ann Lee", "Bob Ray", "Cat Doe")
DOCUMENTS = ("", "d0", "d1")
STARTS = (None, day("2000-01-01"), day("2010-01-01"))
ENDS = (None, day("2005-01-01"), day("2015-01-01"))
INSTANTS = tuple(at(f"{year}-01-01") for year in (1990, 2000, 2004, 2005, 2012, 2020))
DECADE = FactFilter(day("2003-01-01").timestamp(), day("2012-01-01").timestamp())


class Store(GraphStore, Protocol):
    @property
    def history(self) -> HistoryStore: ...


@dataclass(frozen=True)
class End:
    """Ends the fact with this number in the order of additions, if it exists."""

    number: int
    at: datetime


@dataclass(frozen=True)
class Delete:
    """Deletes a document's only episode."""

    document: str


stated = st.builds(
    lambda ends, relation, since, until, document: fact(
        ends[0], relation, ends[1], valid_at=since, invalid_at=until, document_id=document
    ),
    st.permutations(NAMES),
    st.sampled_from(("KNOWS", "OWNS")),
    st.sampled_from(STARTS),
    st.sampled_from(ENDS),
    st.sampled_from(DOCUMENTS),
).filter(lambda one: not is_reversed(one.valid_at, one.invalid_at))
actions = st.lists(
    st.one_of(
        st.lists(stated, min_size=1, max_size=3),
        st.lists(stated, min_size=1, max_size=3),
        st.builds(End, st.integers(0, 9), st.sampled_from((day("2003-01-01"), day("2018-01-01")))),
        st.builds(Delete, st.sampled_from(DOCUMENTS[1:])),
    ),
    min_size=1,
    max_size=8,
)


@dataclass
class World:
    """A space in a store, and the reference table that it must match."""

    store: Store
    space: str
    table: Table = field(default_factory=Table)
    clock: dict[int, float] = field(default_factory=dict)
    claims: dict[Row, set[str]] = field(default_factory=dict)
    ended: dict[Row, float] = field(default_factory=dict)
    given: list[GivenFact] = field(default_factory=list)
    revision: int = 0

    async def act(self, action: list[GivenFact] | End | Delete) -> None:
        """Applies an action to both."""
        if isinstance(action, list):
            await self.store.add_facts(self.space, action, "")
            self.given += action
            for one in action:
                self.claims.setdefault(row_of(one), set()).add(one.document_id)
        elif isinstance(action, End):
            await self._end(action)
        else:
            await self._delete(action.document)
        await self._record_write()

    async def _end(self, action: End) -> None:
        one = self.given[action.number % len(self.given)] if self.given else None
        if one is None or row_of(one) not in self.claims:
            return
        if start_of(one.valid_at) < action.at.timestamp():
            await self.store.end_fact(self.space, self.uuid_of(one), action.at)
            self.ended[row_of(one)] = action.at.timestamp()

    async def _delete(self, document: str) -> None:
        uuid = passage(self.space, document, "Note", "Nothing.").uuid
        await self.store.delete_episodes(self.space, [uuid])
        await self.store.add_episodes(
            self.space, [passage(self.space, document, "Note", "Nothing.")]
        )
        for row in list(self.claims):
            self.claims[row].discard(document)
            if not self.claims[row]:
                del self.claims[row]
                self.ended.pop(row, None)

    def _now(self, row: Row) -> Row:
        return (*row[:4], self.ended.get(row, row[4]))

    def uuid_of(self, one: GivenFact) -> str:
        """Returns the uuid of a given fact."""
        ends = [entity_uuid(self.space, name_key(end.name)) for end in (one.subject, one.object)]
        interval = (start_of(one.valid_at), end_of(one.invalid_at))
        return fact_uuid(self.space, (ends[0], ends[1]), one.relation, interval)

    async def _record_write(self) -> None:
        stats = await self.store.stats(self.space)
        self.table.record_write(self._now(row) for row in self.claims)
        self.clock[self.table.now] = stats.last_write.timestamp() if stats.last_write else 0.0


def as_row(one: Fact) -> Row:
    """Converts a fact to a row of the table."""
    interval = (start_of(one.valid_at), end_of(one.invalid_at))
    return one.source.name, one.relation, one.target.name, *interval


async def check_lists(world: World, write: int, known: float | None) -> None:
    """Checks listings as known after a write, at every time and for every entity."""
    history, space = world.store.history, world.space
    for only in (*INSTANTS, DECADE, ALWAYS):
        found = await history.list_facts(space, Scope(known=known), only, None, 100)
        assert {as_row(one) for one in found} == world.table.valid_at(write, only)
        assert found == sorted(found, key=lambda one: (start_of(one.valid_at), one.uuid))
    every = world.table.known(write)
    for name in NAMES:
        entity = Selector(name_key=name_key(name))
        scopes = {
            Scope(subject=entity, known=known): {row for row in every if row[0] == name},
            Scope(object=entity, known=known): {row for row in every if row[2] == name},
            Scope(either=entity, relation="knows", known=known): {
                row for row in every if name in (row[0], row[2]) and row[1] == "KNOWS"
            },
        }
        for scope, rows in scopes.items():
            found = await history.list_facts(space, scope, ALWAYS, None, 100)
            assert {as_row(one) for one in found} == rows


async def check_histories(world: World, write: int, known: float | None) -> None:
    """Checks that an entity's history has all of its rows, and that an entity without rows is not found."""
    for name in NAMES:
        rows = [row for row in world.table.known(write) if name in (row[0], row[2])]
        try:
            entity = Selector(name_key=name_key(name))
            life = await world.store.history.life(world.space, entity, "", known)
        except NotFoundError:
            assert rows == []
            continue
        entries = {(one.relation, one.valid_from, one.valid_until) for one in life.moments}
        assert entries == {(row[1], row[3], row[4]) for row in rows}
        assert life.entity is not None
        assert life.entity.name == name


async def check_differences(world: World, write: int, known: float | None) -> None:
    """Checks the facts that are valid at only one of two times."""
    history, space = world.store.history, world.space
    facts = {
        one.uuid: as_row(one)
        for one in await history.list_facts(space, Scope(known=known), ALWAYS, None, 100)
    }
    for before, after in (
        (INSTANTS[0], INSTANTS[2]),
        (INSTANTS[2], INSTANTS[4]),
        (DECADE, INSTANTS[5]),
    ):
        ended, added = differences(world.table, write, before, after)
        for name in ("", *NAMES):
            entity = Selector(name_key=name_key(name)) if name else None
            scope = Scope(either=entity, known=known)
            found = await history.differences(space, scope, Times(before, after), 100)
            for value, stored in ((ended, True), (added, False)):
                said = {statement(facts[one.uuid]) for one in found if one.held_before is stored}
                assert said == {one for one in value if not name or name in (one[0], one[2])}


async def check_versions(world: World) -> None:
    """Checks that the versions of a fact do not overlap and that only the last one may be open."""
    for one in world.given:
        versions = await world.store.history.versions(world.space, world.uuid_of(one), 100)
        assert versions
        for version, following in pairwise(versions):
            assert version.known_until is not None
            assert version.known_from < version.known_until <= following.known_from


async def run(store: Store, done: list[list[GivenFact] | End | Delete]) -> None:
    """Applies the actions, then checks the state as known after each of them."""
    space = new_space()
    notes = [passage(space, document, "Note", "Nothing.") for document in DOCUMENTS[1:]]
    await store.add_episodes(space, notes)
    world = World(store, space)
    for action in done:
        await world.act(action)
    for write, known in (*world.clock.items(), (world.table.now, None)):
        await check_lists(world, write, known)
        await check_histories(world, write, known)
        await check_differences(world, write, known)
    await check_versions(world)


@settings(max_examples=150)
@given(done=actions)
async def test_the_fake_matches_the_reference_table(
    done: list[list[GivenFact] | End | Delete],
) -> None:
    await run(FakeGraphStore(), done)


# Examples are not shrunk: each one fills a space and runs several hundred queries.
@settings(
    max_examples=8,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(done=actions)
async def test_neo4j_matches_the_reference_table(
    graph_stores: LocalStores, done: list[list[GivenFact] | End | Delete]
) -> None:
    async with opened(graph_stores) as store:
        await run(store, done)
