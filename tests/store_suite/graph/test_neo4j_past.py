"""What Neo4j keeps of the past: types that entities had, and graphs of the design before this one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from neo4j import AsyncDriver

from deploy.local.stores import LocalStores
from services.graph_query.app import build_store
from services.graph_query.core.domain import EntityName, GivenFact
from services.graph_query.graph_store import Neo4jStore
from services.graph_query.history.domain import Scope, Selector
from services.graph_query.neo4j import schema as neo4j_schema
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.queries import load_queries
from services.graph_query.neo4j.schema import add_words
from services.graph_query.search.as_known import Known
from services.runtime.errors import StoreUnavailableError
from tests.store_suite.graph.builders import ALWAYS, day, fact, new_space, passage
from tests.store_suite.graph.neo4j_graph import opened, settings

# What a space was before versions were of the past alone: each fact with a version that is known still.
_OLDER = """MATCH (a)-[e:RELATES_TO {group_id: $space}]->(b)
CREATE (:FactVersion {uuid: randomUUID(), group_id: $space, fact_uuid: e.uuid, source_uuid: a.uuid, target_uuid: b.uuid,
  source_name: a.name, target_name: b.name, source_type: $type, target_type: '', name: e.name, fact: e.fact,
  origin: e.origin,
  valid_at: e.valid_at, invalid_at: e.invalid_at, valid_from: e.valid_from, valid_until: e.valid_until,
  created_at: e.created_at, known_from: e.braid_known_from, known_until: 2.0 ^ 60, episode_uuid: e.braid_cause,
  attribute_names: []})
REMOVE e.braid_known_from, e.braid_cause"""
# What a write did to such a fact before the graph was of this design.
_ENDED = """MATCH ()-[e:RELATES_TO {group_id: $space}]->()
SET e.invalid_at = $at, e.valid_until = $at.epochSeconds, e.braid_known_from = $now"""
_GONE = """MATCH ()-[e:RELATES_TO {group_id: $space}]->() DELETE e
WITH DISTINCT 1 AS one MATCH (s:BraidSpace {group_id: $space}) SET s.last_write = s.last_write + duration('PT1S')"""
_OPEN = "MATCH (v:FactVersion {group_id: $space}) WHERE v.known_until = 2.0 ^ 60 RETURN count(v) AS open"
_CLAIMS = """MATCH (c:FactClaim {group_id: $space})
RETURN c.document_id AS document, c.claimant AS claimant, c.document_uuid, c.episode_uuid, size(c.given) AS given
ORDER BY document"""
_WITHOUT_CLAIMANTS = "MATCH (c:FactClaim {group_id: $space}) REMOVE c.claimant"
_WITHOUT_ENDS = "MATCH ()-[e:RELATES_TO {group_id: $space}]->() REMOVE e.braid_ends"
_WITHOUT_FACT_WORDS = "MATCH ()-[e:RELATES_TO {group_id: $space}]->() REMOVE e.braid_words"
_WITHOUT_WORDS = """
MATCH ()-[e:RELATES_TO {group_id: $space}]->() MATCH (s:BraidSentence {group_id: $space})
REMOVE e.braid_words, s.braid_words"""


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


def near(name: str, kind: str, target: str) -> GivenFact:
    return replace(fact(name, "IS_NEAR", target), subject=EntityName(name, kind))


async def targets(store: Neo4jStore, space: str, kind: str, known: float | None) -> list[str]:
    scope = Scope(subject=Selector(name_key="nova", type=kind), known=known)
    found = await store.history.list_facts(space, scope, ALWAYS, None, 10)
    return [one.target.name for one in found]


async def last_write(store: Neo4jStore, space: str) -> float:
    found = (await store.stats(space)).last_write
    assert found is not None
    return found.timestamp()


async def test_an_entity_has_in_the_past_the_type_that_it_had_then(store: Neo4jStore) -> None:
    space = new_space()
    await store.add_facts(space, [fact("Nova", "KNOWS", "Old Friend")], "")
    untyped = await last_write(store, space)
    await store.add_facts(space, [near("Nova", "Planet", "Sun Star")], "")
    planet = await last_write(store, space)
    await store.add_facts(space, [near("Nova", "Metal", "Ore Box")], "")
    now = await last_write(store, space)
    assert await targets(store, space, "Planet", untyped) == ["Old Friend"]
    assert set(await targets(store, space, "Planet", planet)) == {"Old Friend", "Sun Star"}
    assert await targets(store, space, "Metal", planet) == ["Old Friend"]
    assert set(await targets(store, space, "Metal", now)) == {"Old Friend", "Ore Box"}


async def test_versions_that_are_known_still_become_the_facts_own_once(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    one = fact("Nova", "KNOWS", "Old Friend", valid_at=day("2000-01-01"))
    await store.add_facts(space, [one], "")
    first = await last_write(store, space)
    before = await store.history.list_facts(space, Scope(known=first), ALWAYS, None, 10)
    await driver.execute_query(_OLDER, space=space, type="")
    for _ in range(2):
        await store.ensure_schema()
        assert (await driver.execute_query(_OPEN, space=space)).records[0]["open"] == 0
        again = await store.history.list_facts(space, Scope(known=first), ALWAYS, None, 10)
        assert again == before
    await store.end_fact(space, before[0].uuid, day("2010-01-01"))
    versions = await store.history.versions(space, before[0].uuid, 10)
    assert [version.fact.invalid_at for version in versions] == [None, day("2010-01-01")]
    assert versions[0].known_from.timestamp() == first


async def test_versions_of_the_older_design_keep_their_ends_types(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    await store.add_facts(space, [near("Nova", "Planet", "Sun Star")], "")
    first = await last_write(store, space)
    await driver.execute_query(_OLDER, space=space, type="Comet")
    await store.ensure_schema()
    assert await targets(store, space, "Comet", first) == ["Sun Star"]
    assert await targets(store, space, "Planet", first) == []


async def test_a_version_of_what_has_changed_since_ends_when_that_became_known(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    await store.add_facts(space, [fact("Nova", "KNOWS", "Old Friend")], "")
    first = await last_write(store, space)
    await driver.execute_query(_OLDER, space=space, type="")
    ended = day("2010-01-01")
    await driver.execute_query(_ENDED, space=space, at=ended, now=first + 60)
    await store.ensure_schema()
    (known,) = await store.history.list_facts(space, Scope(), ALWAYS, None, 10)
    versions = await store.history.versions(space, known.uuid, 10)
    assert [version.fact.invalid_at for version in versions] == [None, ended]
    assert [version.known_from.timestamp() for version in versions] == [first, first + 60]
    assert versions[0].known_until == versions[1].known_from


async def test_a_version_of_what_is_gone_is_kept_and_found_in_the_past(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    await store.add_facts(space, [fact("Nova", "KNOWS", "Old Friend")], "")
    first = await last_write(store, space)
    await driver.execute_query(_OLDER, space=space, type="")
    await driver.execute_query(_GONE, space=space)
    await store.ensure_schema()
    assert await targets(store, space, "", first) == ["Old Friend"]
    assert await targets(store, space, "", await last_write(store, space)) == []
    words = await store.past.words_known(space, ["friend"], [], Known(ALWAYS, first, 5))
    assert len(words.text) == 1


async def test_facts_of_before_their_ends_were_words_are_found_by_them(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    told = [fact("Nova", "KNOWS", "Old Friend"), fact("Luna", "KNOWS", "Old Friend")]
    await store.add_facts(space, told, "")
    await driver.execute_query("DROP INDEX braid_fact_terms")
    await driver.execute_query(_WITHOUT_ENDS, space=space)
    await store.ensure_schema()
    only = replace(ALWAYS, entity_key="nova")
    words = await store.search_words(space, ["friend"], [], only, 5)
    shown = await store.facts(space, [hit.uuid for hit in words.text])
    assert [one.source.name for one in shown.values()] == ["Nova"]


async def test_words_with_accents_of_before_are_found_without_them(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    text = "Nova met Luna in the caf\u00e9."
    await store.add_facts(
        space, [fact("Nova", "RUNS", "Caf\u00e9 Z\u00fcrich"), fact("Luna", "KNOWS", "Nova")], ""
    )
    await store.add_episodes(space, [passage(space, "a", "", text)])
    for index in ("braid_fact_terms", "braid_sentence_terms"):
        await driver.execute_query(f"DROP INDEX {index}")
    await driver.execute_query(_WITHOUT_WORDS, space=space)
    await store.ensure_schema()
    words = await store.search_words(space, ["zurich", "cafe"], [], ALWAYS, 5)
    shown = await store.facts(space, [hit.uuid for hit in words.text])
    assert [one.target.name for one in shown.values()] == ["Caf\u00e9 Z\u00fcrich"]
    assert [facts[0].fact for facts, _ in words.sentences] == [text]


async def test_words_of_before_are_those_that_a_write_of_today_adds(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    database = Database(driver, load_queries())
    space = new_space()
    told = [
        fact("Nova", "L\u00c4UFT", f"Luna {n}", fact=f"Nova \u00f8yer Stra\u00dfe {n}")
        for n in range(3)
    ]
    await store.add_facts(space, told, "")
    words = "MATCH ()-[e:RELATES_TO {group_id: $space}]->() RETURN e.braid_words AS words"
    before = [one["words"] for one in (await driver.execute_query(words, space=space)).records]
    assert len(set(before)) == 1
    assert before[0]
    await driver.execute_query(_WITHOUT_FACT_WORDS, space=space)
    await add_words(database, "facts", batch=2)
    after = [one["words"] for one in (await driver.execute_query(words, space=space)).records]
    assert after == before


async def test_words_of_before_are_added_by_the_start_after_one_that_was_interrupted(
    store: Neo4jStore, driver: AsyncDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = new_space()
    await store.add_facts(space, [fact("Nova", "RUNS", "Caf\u00e9")], "")
    await driver.execute_query("DROP INDEX braid_fact_terms")
    await driver.execute_query(_WITHOUT_FACT_WORDS, space=space)

    async def interrupted(*_: object) -> None:
        raise StoreUnavailableError("neo4j")

    with monkeypatch.context() as patched, pytest.raises(StoreUnavailableError):
        patched.setattr(neo4j_schema, "add_words", interrupted)
        await store.ensure_schema()
    await store.ensure_schema()
    words = await store.search_words(space, ["cafe"], [], ALWAYS, 5)
    assert len(words.text) == 1


async def test_what_documents_claimed_before_claims_had_claimants_goes_with_them(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    text = passage(space, "a", "", "Nova met Luna.")
    await store.add_episodes(space, [text])
    claimed = fact("Nova", "KNOWS", "Luna", document_id="a")
    await store.add_facts(space, [claimed, fact("Nova", "KNOWS", "Vega")], "")
    await driver.execute_query("DROP CONSTRAINT braid_fact_claimant")
    await driver.execute_query(_WITHOUT_CLAIMANTS, space=space)
    await store.ensure_schema()
    assert (await store.delete_episodes(space, [text.uuid])).facts == 1
    left = await store.history.list_facts(space, Scope(), ALWAYS, None, 10)
    assert [one.target.name for one in left] == ["Vega"]


async def test_a_fact_of_nobody_moves_to_another_entity_without_a_document(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    await store.add_facts(space, [fact("Nova", "KNOWS", "Luna")], "")
    await store.add_facts(space, [near("Nova", "Star", "Vega")], "")
    moved = await driver.execute_query(_CLAIMS, space=space)
    assert [record.values() for record in moved.records] == [["", None, None, None, 1]] * 2
    assert len(await targets(store, space, "Star", None)) == 2


async def test_a_fact_of_several_documents_moves_with_the_claim_of_each(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = new_space()
    documents = ["a", "b", "c"]
    given = [fact("Nova", "KNOWS", "Luna", document_id=one) for one in documents]
    await store.add_facts(space, given, "")
    await store.add_facts(space, given, "")
    await store.add_facts(space, [near("Nova", "Star", "Vega")], "")
    claims = await driver.execute_query(_CLAIMS, space=space)
    told = [(record["document"], record["claimant"], record["given"]) for record in claims.records]
    assert told == [("", None, 1), *((one, one, 1) for one in documents)]


async def test_nothing_is_written_before_the_graph_is_of_this_design(
    graph_stores: LocalStores,
) -> None:
    space = new_space()
    store = build_store(settings(graph_stores))
    for write in (
        store.add_facts(space, [fact("Nova", "KNOWS", "Old Friend")], ""),
        store.add_episodes(space, [passage(space, "d", "Nova", "It is new.")]),
        store.end_fact(space, "00000000-0000-5000-8000-000000000000", day("2010-01-01")),
    ):
        with pytest.raises(StoreUnavailableError):
            await write
    assert (await store.stats(space)).revision == 0
    await store.ensure_schema()
    assert (await store.add_facts(space, [fact("Nova", "IS", "New")], "")).added == 1
    await store.close()
