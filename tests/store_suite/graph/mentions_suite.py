"""The contract of graph stores for co-occurrences that a stated fact contradicts.

A sentence is left out if it names two entities between which a stated fact is not valid at the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from services.graph_query.core.domain import EntityName, FactFilter, GivenFact, Origin, Passage
from services.graph_query.core.full_text import name_candidates, query_terms
from services.graph_query.core.identity import entity_uuid
from services.graph_query.core.names import name_key
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, new_space, passage
from tests.store_suite.graph.structure_suite import Store, only_uuid

TEXT = "Jonas Weber has owned the Harbour Ledger for long."
OWNED = fact(
    "Jonas Weber",
    "OWNS",
    "Harbour Ledger",
    valid_at=day("2020-01-01"),
    invalid_at=day("2022-01-01"),
)
BEFORE, THEN, LATER = at("2019-06-01"), at("2021-01-01"), at("2023-01-01")
BOTH = FactFilter(day("2021-06-01").timestamp(), day("2023-01-01").timestamp())


async def filled(store: Store, facts: Sequence[GivenFact], *passages: Passage) -> str:
    """Creates a space with these facts and passages."""
    space = new_space()
    rows = [
        replace(one, uuid=passage(space, f"d{n}", "", "").uuid) for n, one in enumerate(passages)
    ]
    await store.add_episodes(space, rows)
    await store.add_facts(space, list(facts), "")
    return space


def said(title: str, *sentences: str) -> Passage:
    """Builds an undated passage, which is valid at any time."""
    return passage("", title, title, " ".join(sentences))


async def sentences(store: Store, space: str, only: FactFilter, limit: int = 10) -> list[str]:
    """Returns the sentences that a search finds."""
    asked = "harbour ledger"
    terms, keys = query_terms(asked), name_candidates(asked)
    found = await store.search_words(space, terms, keys, only, limit)
    return [facts[0].fact for facts, _score in found.sentences]


async def mentioned(store: Store, space: str, name: str, only: FactFilter) -> dict[str, list[str]]:
    """Returns the sentences of a neighborhood by neighbor; checks the total number of neighbors."""
    found = await store.neighborhood(space, name, "", 20, only)
    assert found.total == len(found.nodes)
    value: dict[str, list[str]] = {node.name: [] for node in found.nodes}
    for edge in found.edges:
        if edge.origin is Origin.LOCAL:
            ends = {edge.source.name, edge.target.name} - {found.center.name}
            value[ends.pop()].append(edge.fact)
    return value


class MentionsSuite:
    """Sentences that name the entities of stated facts."""

    @pytest.mark.parametrize(
        ("only", "shown"),
        [(BEFORE, False), (THEN, True), (LATER, False), (BOTH, True), (ALWAYS, True)],
    )
    async def test_a_sentence_is_left_out_when_a_stated_fact_between_its_names_is_not_valid(
        self, store: Store, only: FactFilter, shown: bool
    ) -> None:
        space = await filled(store, [OWNED], said("Harbour Ledger", TEXT))
        assert await sentences(store, space, only) == [TEXT] * shown
        near = await mentioned(store, space, "harbour ledger", only)
        assert near == ({"Jonas Weber": [TEXT]} if shown else {})
        ledger = await only_uuid(store, space, "Harbour Ledger")
        jonas = await only_uuid(store, space, "Jonas Weber")
        steps = await store.entities.steps(space, [ledger], only, 10, local=True)
        assert [one.target for one in steps] == [jonas] * shown

    async def test_a_contradicted_sentence_does_not_join_its_names_to_the_title_either(
        self, store: Store
    ) -> None:
        page = said("Owner Change", TEXT, "The Harbour Ledger is blue.")
        space = await filled(store, [OWNED], page)
        assert await sentences(store, space, LATER) == ["The Harbour Ledger is blue."]
        near = partial(mentioned, store, space)
        assert await near("harbour ledger", LATER) == {
            "Owner Change": ["The Harbour Ledger is blue."]
        }
        assert await near("jonas weber", LATER) == {}
        assert set(await near("jonas weber", THEN)) == {"Owner Change", "Harbour Ledger"}
        ends = [await only_uuid(store, space, one) for one in ("Owner Change", "Jonas Weber")]
        pair = (ends[0], ends[1])
        for only, number in ((THEN, 1), (LATER, 0)):
            joined = await store.entities.joining(space, [pair], only, local=True)
            assert len(joined) == number

    async def test_a_valid_fact_does_not_restore_a_sentence_that_another_contradicts(
        self, store: Store
    ) -> None:
        leads = fact("Jonas Weber", "LEADS", "Harbour Ledger", valid_at=day("2022-06-01"))
        space = await filled(store, [OWNED, leads], said("Harbour Ledger", TEXT))
        assert await sentences(store, space, LATER) == []
        assert await mentioned(store, space, "harbour ledger", LATER) == {"Jonas Weber": []}

    async def test_facts_between_other_entities_or_in_other_spaces_contradict_nothing(
        self, store: Store
    ) -> None:
        other = fact("Mira Okafor", "OWNS", "Harbour Ledger", invalid_at=day("2020-01-01"))
        space = await filled(store, [other], said("Harbour Ledger", TEXT))
        await filled(store, [OWNED])
        assert await sentences(store, space, LATER) == [TEXT]
        assert await mentioned(store, space, "harbour ledger", LATER) == {"Jonas Weber": [TEXT]}

    async def test_a_one_day_fact_contradicts_nothing_later(self, store: Store) -> None:
        day_long = {"valid_at": day("2020-01-01"), "invalid_at": day("2020-01-02")}
        met = fact("Jonas Weber", "BROKE", "Harbour Ledger", **day_long)
        space = await filled(store, [met], said("Harbour Ledger", TEXT))
        assert await sentences(store, space, LATER) == [TEXT]
        assert await mentioned(store, space, "harbour ledger", LATER) == {"Jonas Weber": [TEXT]}

    async def test_other_sentences_fill_the_limit_when_some_are_left_out(
        self, store: Store
    ) -> None:
        old = [f"Jonas Weber owns the Harbour Ledger, part {number}." for number in range(3)]
        rest = "Elsewhere and for other reasons Mira Okafor has read the Harbour Ledger."
        space = await filled(store, [OWNED], said("Harbour Ledger", *old, rest))
        assert await sentences(store, space, LATER, limit=1) == [rest]

    async def test_other_neighbors_fill_the_limit_when_some_are_left_out(
        self, store: Store
    ) -> None:
        page = said("Owner Change", TEXT, "Owner Change was read by Zoe Zimmer.")
        space = await filled(store, [OWNED], page)
        found = await store.neighborhood(space, "owner change", "", 1, LATER)
        assert [node.name for node in found.nodes] == ["Zoe Zimmer"]
        assert found.total == 1

    async def test_a_sentence_with_very_many_names_is_checked_for_the_first_seventeen(
        self, store: Store
    ) -> None:
        names = [f"Xeno{letter} Quill" for letter in "abcdefghijklmnopqrst"]
        text = f"We met {', '.join(names)}."
        space = await filled(store, [], said("", text))
        first, *others = names
        others.sort(key=lambda name: entity_uuid(space, name_key(name)))
        checked, unchecked = (first, others[15]), (first, others[16])
        for (one, other), shown in ((unchecked, [text]), (checked, [])):
            await store.add_facts(space, [replace_ends(OWNED, one, other)], "")
            found = await store.search_words(space, query_terms("quill"), [], LATER, 10)
            assert [value[0].fact for value, _ in found.sentences] == shown


def replace_ends(one: GivenFact, subject: str, target: str) -> GivenFact:
    """Returns a copy of the fact with another subject and object."""
    return replace(one, subject=EntityName(subject), object=EntityName(target))
