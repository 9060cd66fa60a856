"""Opens the graph store on the test run's Neo4j, and dumps its content."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from neo4j import AsyncDriver, AsyncGraphDatabase
from pydantic import SecretStr

from deploy.local.stores import LocalStores
from services.graph_query.app import build_store
from services.graph_query.local_extraction.extract import MentionKind
from services.graph_query.neo4j_store import Neo4jStore
from services.graph_query.settings import GraphSettings
from tests.store_suite.graph.builders import Dump

_MENTIONS = """MATCH (e:Episodic {group_id: $space})-[m:BRAID_MENTIONS]->(n:Entity)
RETURN e.uuid, n.uuid, m.kind, m.sentences, m.name"""
_SENTENCES = """MATCH (s:BraidSentence {group_id: $space})
RETURN s.uuid, s.episode_uuid, s.ordinal, s.text, s.subject_uuid, s.target_uuids"""
_PAIRS = """MATCH (a:Entity {group_id: $space})-[r:CO_OCCURS]->(b:Entity)
RETURN r.sentence_uuid, a.uuid, b.uuid"""
_ENTITIES = """MATCH (n:Entity {group_id: $space})
OPTIONAL MATCH (k:EntityName {entity_uuid: n.uuid})
RETURN n.uuid, k.name_key, k.type, n.name, [l IN labels(n) WHERE l <> 'Entity'], k.mention_rank, k.title"""
_FACTS = """MATCH (a:Entity)-[e:RELATES_TO {group_id: $space}]->(b:Entity)
RETURN e.uuid, a.uuid, b.uuid, e.episodes"""
_STRAYS = """MATCH (n {group_id: $space})
WHERE n:EntityName AND NOT EXISTS { MATCH (e:Entity {uuid: n.entity_uuid}) }
   OR n:BraidPassage AND NOT EXISTS { MATCH (e:Episodic {uuid: n.uuid, group_id: $space}) }
   OR n:FactClaim AND NOT EXISTS { MATCH ()-[e:RELATES_TO {uuid: n.fact_uuid}]->() }
   OR n:Document AND NOT EXISTS { (n)-[:HAS_EPISODE]->() }
RETURN labels(n), properties(n)"""


def settings(stores: LocalStores) -> GraphSettings:
    """Returns the settings for the test run's Neo4j."""
    found = stores.environment()
    return GraphSettings(
        neo4j_uri=found["NEO4J_URI"],
        neo4j_user=found["NEO4J_USER"],
        neo4j_password=SecretStr(found["NEO4J_PASSWORD"]),
    )


async def prepare(stores: LocalStores) -> None:
    """Creates the schema."""
    async with opened(stores):
        pass


@asynccontextmanager
async def opened(stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    """Opens a new store, with empty caches, and ensures the schema."""
    store = build_store(settings(stores))
    try:
        await store.ensure_schema()
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def neo4j_alone(data: Path, neo4j_settings: Mapping[str, str]) -> AsyncIterator[LocalStores]:
    """Starts a separate Neo4j with these settings; PostgreSQL is not started."""
    stores = LocalStores(data, neo4j_settings=neo4j_settings)
    stores.prepare()
    try:
        await stores.fetch()
        await stores.neo4j.start()
        yield stores
    finally:
        await stores.neo4j.stop()
        stores.release()


@asynccontextmanager
async def connected(stores: LocalStores) -> AsyncIterator[AsyncDriver]:
    """Opens a driver that is independent of the store, for statements that no service runs."""
    found = settings(stores)
    auth = (found.neo4j_user, found.neo4j_password.get_secret_value())
    async with AsyncGraphDatabase.driver(
        found.neo4j_uri, auth=auth, notifications_min_severity="OFF"
    ) as driver:
        yield driver


async def dump(stores: LocalStores, space: str) -> Dump:
    """Dumps mentions, sentences, entities and facts of a space; checks that they are consistent."""
    async with connected(stores) as driver:

        async def rows(query: str) -> list[list[Any]]:
            result = await driver.execute_query(query, space=space)
            return [record.values() for record in result.records]

        assert await rows(_STRAYS) == []
        mentions = {(e, n, k, tuple(s), name) for e, n, k, s, name in await rows(_MENTIONS)}
        sentences = {(*row[:5], tuple(row[5])) for row in await rows(_SENTENCES)}
        pairs = sorted(tuple(row) for row in await rows(_PAIRS))
        entries = sorted((row[0], row[4], target) for row in sentences for target in row[5])
        assert pairs == entries
        entities = {}
        for uuid, key, kind, name, labels, rank, title in await rows(_ENTITIES):
            assert labels == ([kind] if kind else [])
            kinds = [row[2] for row in mentions if row[1] == uuid]
            assert (rank, title) == (-len(kinds), set(kinds) == {MentionKind.ABOUT})
            entities[uuid] = (key, kind, name)
        facts = {u: (a, b, tuple(c)) for u, a, b, c in await rows(_FACTS)}
    return Dump(mentions, sentences, entities, facts)
