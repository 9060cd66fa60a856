"""The contract of graph stores for entities, paths and subgraphs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Protocol

from services.graph_query.core.domain import EntityName, Origin
from services.graph_query.core.store import GraphStore
from services.graph_query.entities.domain import EntityStore, Seeds
from services.graph_query.entities.paths import shortest
from services.graph_query.history.domain import Selector
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, new_space, passage

NOW = 2_000_000_000.0


class Store(GraphStore, Protocol):
    """A graph store with entities."""

    @property
    def entities(self) -> EntityStore: ...


async def shortest_paths(
    store: Store, space: str, ends: tuple[str, str], hops: int = 4
) -> list[list[str]]:
    """Returns the shortest paths between two entities, as names."""
    uuids = [await only_uuid(store, space, name) for name in ends]

    async def steps(frontier, limit):  # type: ignore[no-untyped-def]
        return await store.entities.steps(space, frontier, ALWAYS, limit, local=False)

    found = await shortest((uuids[0], uuids[1]), steps, hops, 9)
    known = await store.entities.titled(space, sorted({one for path in found.ways for one in path}))
    return [[known[uuid].entity.name for uuid in path] for path in found.ways]


async def only_uuid(store: Store, space: str, name: str) -> str:
    """Returns the uuid of the only entity with a name."""
    found = await store.entities.entities(space, Selector(name_key=name.casefold()), NOW)
    assert len(found) == 1
    return found[0].entity.uuid


class StructureSuite:
    """Entities, linking of names, steps and subgraphs."""

    async def test_an_entity_is_found_by_name_with_its_aliases(self, store: Store) -> None:
        space = new_space()
        await store.add_episodes(
            space,
            [
                passage(space, "d1", "Nats Stream", "A decision."),
                passage(space, "d2", "Note", "Later NATS STREAM came."),
            ],
        )
        past = fact("nats stream", "IS", "Queue", invalid_at=day("2001-01-01"))
        await store.add_facts(space, [past, fact("nats stream", "IS", "Chosen Queue")], "")
        found = await store.entities.entities(space, Selector(name_key="nats stream"), NOW)
        assert [one.entity.name for one in found] == ["Nats Stream"]
        assert found[0].aliases == ("NATS STREAM", "nats stream")
        assert (found[0].facts, found[0].entity.mentions) == (1, 2)

    async def test_all_entities_with_a_name_are_returned(self, store: Store) -> None:
        space = new_space()
        planet, element = EntityName("Mercury", "Planet"), EntityName("Mercury", "Element")
        rows = [
            fact(planet, "ORBITS", "Sun Star"),
            fact(planet, "IS", "Small"),
            fact(element, "IS", "Metal"),
        ]
        await store.add_facts(space, rows, "")
        found = await store.entities.entities(space, Selector(name_key="mercury"), NOW)
        assert [one.entity.type for one in found] == ["Planet", "Element"]
        typed = Selector(name_key="mercury", type="Element")
        assert [one.entity.type for one in await store.entities.entities(space, typed, NOW)] == [
            "Element"
        ]

    async def test_entities_of_another_space_are_never_returned(self, store: Store) -> None:
        space, other = new_space(), new_space()
        chunk = passage(space, "d1", "Anna Bell", "She knows Karl Otto.")
        await store.add_episodes(space, [chunk])
        await store.add_facts(space, [fact("Anna Bell", "KNOWS", "Karl Otto")], "")
        uuid = await only_uuid(store, space, "Anna Bell")
        ours = store.entities
        assert await ours.entities(other, Selector(uuid=uuid), NOW) == []
        assert await ours.entities(other, Selector(name_key="anna bell"), NOW) == []
        assert await ours.entities_by_link_key(other, ["anna bell"]) == {}
        assert await ours.titled(other, [uuid]) == {}
        assert await ours.steps(other, [uuid], ALWAYS, 10, local=True) == []
        karl = await only_uuid(store, space, "Karl Otto")
        assert await ours.joining(other, [(uuid, karl)], ALWAYS, local=True) == {}
        found = await ours.subgraph(other, Seeds([chunk.uuid], [uuid], 20, 10, 10))
        assert (found.episodes, found.entities, found.mentions) == ([], [], [])

    async def test_names_from_titles_and_facts_are_linkable_and_phrases_are_not(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_episodes(space, [passage(space, "d1", "Anna Bell", "She met Zoe Zimmer.")])
        await store.add_facts(space, [fact("C++", "IS", "Language")], "")
        found = await store.entities.entities_by_link_key(
            space, ["anna bell", "c", "zoe zimmer", "nobody"]
        )
        assert {key: [one.name_key for one in names] for key, names in found.items()} == {
            "anna bell": ["anna bell"],
            "c": ["c++"],
        }

    async def test_steps_follow_facts_valid_at_the_requested_time(self, store: Store) -> None:
        space = new_space()
        await store.add_episodes(space, [passage(space, "d1", "Anna Bell", "She met Zoe Zimmer.")])
        rows = [
            fact("Anna Bell", "KNOWS", "Karl Otto", invalid_at=day("2001-01-01")),
            fact("Lena Roth", "KNOWS", "Anna Bell", valid_at=day("2001-01-01")),
            fact("Anna Bell", "IS", "Anna Bell"),
        ]
        await store.add_facts(space, rows, "")
        uuid = await only_uuid(store, space, "Anna Bell")
        for instant, local, names in (
            (at("2000-01-01"), False, {"Karl Otto"}),
            (at("2002-01-01"), False, {"Lena Roth"}),
            (at("2002-01-01"), True, {"Lena Roth", "Zoe Zimmer"}),
        ):
            steps = await store.entities.steps(space, [uuid], instant, 10, local=local)
            titled = await store.entities.titled(space, [step.target for step in steps])
            assert {one.entity.name for one in titled.values()} == names

    async def test_co_occurrences_join_entities_while_a_version_contains_the_sentence(
        self, store: Store
    ) -> None:
        space = new_space()
        text = "Ada Byron leads Orion Team."
        for year, value in ((2020, text), (2021, "Nobody does."), (2022, text)):
            chunk = passage(space, "d1", "Ada Byron", value, len(value))
            await store.add_episodes(space, [replace(chunk, version_time=day(f"{year}-01-01"))])
        ada = await only_uuid(store, space, "Ada Byron")
        team = await only_uuid(store, space, "Orion Team")
        for year, holds in ((2019, False), (2020, True), (2021, False), (2022, True)):
            then = at(f"{year}-06-01")
            steps = await store.entities.steps(space, [ada], then, 10, local=True)
            assert [step.target for step in steps] == [team] * holds
            joined = await store.entities.joining(space, [(ada, team)], then, local=True)
            assert len(joined) == holds
            assert {fact.valid_at for fact in joined.values()} <= {day("2020-01-01")}

    async def test_the_latest_co_occurrence_is_preferred_and_undated_ones_come_last(
        self, store: Store
    ) -> None:
        space = new_space()
        chunks = [
            passage(space, f"d{number}", "Ada Byron", "She met Carl Orff.") for number in range(5)
        ]
        chunks[2] = replace(chunks[2], version_time=day("2020-01-01"))
        chunks[3] = replace(chunks[3], version_time=day("2021-01-01"))
        await store.add_episodes(space, chunks)
        ada = await only_uuid(store, space, "Ada Byron")
        carl = await only_uuid(store, space, "Carl Orff")
        (best,) = (await store.entities.joining(space, [(ada, carl)], ALWAYS, local=True)).values()
        assert best.valid_at == day("2021-01-01")
        near = await store.neighborhood(space, "ada byron", "", 5, ALWAYS)
        rows = [day("2021-01-01"), day("2020-01-01"), None]
        assert [fact.valid_at for fact in near.edges] == rows

    async def test_a_stated_fact_is_preferred_to_a_co_occurrence(self, store: Store) -> None:
        space = new_space()
        chunk = passage(space, "d1", "Anna Bell", "She met Karl Otto.")
        await store.add_episodes(space, [chunk])
        anna = await only_uuid(store, space, "Anna Bell")
        karl = await only_uuid(store, space, "Karl Otto")
        joining = partial(store.entities.joining, space, [(karl, anna)], ALWAYS)
        local = (await joining(local=True))[karl, anna]
        assert (local.origin, local.citations[0].quote) == (Origin.LOCAL, "She met Karl Otto.")
        assert await joining(local=False) == {}
        result = fact(
            "Anna Bell", "KNOWS", "Karl Otto", document_id="d1", attributes={"how": "work"}
        )
        await store.add_facts(space, [result], "")
        stated = (await joining(local=True))[karl, anna]
        assert (stated.origin, stated.attributes) == (Origin.GIVEN, {"how": "work"})
        assert [cited.chunk_id for cited in stated.citations] == [chunk.uuid]

    async def test_shortest_paths_are_ordered_by_the_fewest_facts_of_their_entities(
        self, store: Store
    ) -> None:
        space = new_space()
        rows = [
            fact("Start Here", "KNOWS", "Busy Hub"),
            fact("Busy Hub", "KNOWS", "End There"),
            fact("Start Here", "KNOWS", "Quiet One"),
            fact("End There", "KNOWS", "Quiet One"),
            fact("Busy Hub", "KNOWS", "Other Aaa"),
            fact("Busy Hub", "KNOWS", "Other Bbb"),
            fact("Other Bbb", "KNOWS", "Far Away"),
        ]
        await store.add_facts(space, rows, "")
        assert await shortest_paths(store, space, ("Start Here", "End There")) == [
            ["Start Here", "Quiet One", "End There"],
            ["Start Here", "Busy Hub", "End There"],
        ]
        assert await shortest_paths(store, space, ("Far Away", "Start Here")) == [
            ["Far Away", "Other Bbb", "Busy Hub", "Start Here"]
        ]
        assert await shortest_paths(store, space, ("Far Away", "Start Here"), hops=2) == []
        assert await shortest_paths(store, space, ("Busy Hub", "Busy Hub")) == [["Busy Hub"]]

    async def test_a_subgraph_extends_one_step_along_shared_entities(self, store: Store) -> None:
        space = new_space()
        chunks = [
            passage(space, "d1", "Anna Bell", "She met Karl Otto in Vienna Hall."),
            passage(space, "d2", "Karl Otto", "He knows Lena Roth."),
            passage(space, "d3", "Lena Roth", "She lives in Graz Town."),
        ]
        await store.add_episodes(space, chunks)
        found = await store.entities.subgraph(space, Seeds([chunks[0].uuid], [], 20, 10, 10))
        assert [(one.document_id, one.seed) for one in found.episodes] == [
            ("d1", True),
            ("d2", False),
        ]
        assert sorted((one.ref.name, one.frequency, one.titled) for one in found.entities) == [
            ("Anna Bell", 1, True),
            ("Karl Otto", 2, True),
            ("Vienna Hall", 1, False),
        ]
        names = {one.ref.uuid: one.ref.name for one in found.entities}
        assert {
            (one.episode, names[one.entity], one.kind, one.sentences) for one in found.mentions
        } == {
            (chunks[0].uuid, "Anna Bell", 3, ()),
            (chunks[0].uuid, "Karl Otto", 2, (0,)),
            (chunks[0].uuid, "Vienna Hall", 1, (0,)),
            (chunks[1].uuid, "Karl Otto", 3, ()),
        }
        assert not found.truncated

    async def test_a_subgraph_may_start_at_entities_and_is_limited(self, store: Store) -> None:
        space = new_space()
        chunks = [
            passage(space, f"d{number}", f"Note {number}", "They met Karl Otto.")
            for number in range(4)
        ]
        about = passage(space, "d9", "Karl Otto", "He is here.")
        await store.add_episodes(space, [*chunks, about])
        karl = await only_uuid(store, space, "Karl Otto")
        whole = await store.entities.subgraph(space, Seeds([], [karl], 5, 10, 10))
        assert len(whole.episodes) == 5
        rare = await store.entities.subgraph(space, Seeds([], [karl], 4, 10, 10))
        assert [one.document_id for one in rare.episodes] == ["d9"]
        assert [one.ref.uuid for one in rare.entities] == [karl]
        cut = await store.entities.subgraph(space, Seeds([], [karl], 5, 10, 3))
        assert (len(cut.episodes), cut.truncated) == (3, True)
        nothing = await store.entities.subgraph(space, Seeds([], [], 5, 10, 3))
        assert (nothing.episodes, nothing.truncated) == ([], False)

    async def test_a_subgraph_extends_to_chunks_that_state_facts_valid_at_the_time(
        self, store: Store
    ) -> None:
        space = new_space()
        chunks = [
            passage(space, "d1", "Anna Bell", "She is here."),
            passage(space, "d2", "Minutes", "It was decided at last."),
        ]
        await store.add_episodes(space, chunks)
        ended = day("2020-01-01")
        await store.add_facts(
            space,
            [
                fact("Anna Bell", "LEADS", "Payments Team", document_id="d2", invalid_at=ended),
                fact("Anna Bell", "KNOWS", "Karl Otto", document_id="d1"),
            ],
            "",
        )
        seeds = Seeds([chunks[0].uuid], [], 20, 10, 10, at=day("2019-01-01").timestamp())
        then = await store.entities.subgraph(space, seeds)
        assert [one.document_id for one in then.episodes] == ["d1", "d2"]
        names = {one.ref.uuid: one.ref.name for one in then.entities}
        assert (chunks[1].uuid, "Anna Bell", "LEADS") in {
            (one.episode, names[one.entity], one.relation) for one in then.statements
        }
        now = await store.entities.subgraph(space, replace(seeds, at=NOW))
        assert [one.document_id for one in now.episodes] == ["d1"]
        assert {one.relation for one in now.statements} == {"KNOWS"}

    async def test_a_subgraph_without_details_has_the_same_nodes_without_titles_and_sentences(
        self, store: Store
    ) -> None:
        space = new_space()
        chunks = [
            passage(space, "d1", "Anna Bell", "She met Karl Otto."),
            passage(space, "d2", "Karl Otto", "He knows Lena Roth."),
        ]
        await store.add_episodes(space, chunks)
        seeds = Seeds([chunks[0].uuid], [], 20, 10, 10)
        whole = await store.entities.subgraph(space, seeds)
        brief = await store.entities.subgraph(space, replace(seeds, details=False))
        assert [one.uuid for one in brief.episodes] == [one.uuid for one in whole.episodes]
        assert {(one.document_id, one.title) for one in brief.episodes} == {("", "")}
        assert brief.entities == whole.entities
        assert [one.sentences for one in brief.mentions] == [()] * len(whole.mentions)
