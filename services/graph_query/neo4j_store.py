"""The graph in Neo4j: Graphiti's data model and Braid's own nodes. Combines every feature's store over one database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from services.graph_query.core.domain import (
    DeletionCounts,
    EndedFact,
    EpisodeCounts,
    FactCounts,
    FactFilter,
    GivenFact,
    Passage,
)
from services.graph_query.core.fact_batch import FactBatch
from services.graph_query.core.intervals import OPEN
from services.graph_query.corrections.neo4j_store import Neo4jCorrections
from services.graph_query.embeddings.domain import RETRY_SECONDS
from services.graph_query.embeddings.neo4j_store import Neo4jEmbeddings
from services.graph_query.entities.neo4j_store import Neo4jEntities, Neo4jEntityStore
from services.graph_query.episodes.neo4j_store import Neo4jExtractions
from services.graph_query.episodes.writes import add_episodes, delete_episodes
from services.graph_query.expansion.neo4j_store import Neo4jRelations
from services.graph_query.facts.invalidation import end_fact
from services.graph_query.facts.writes import add_facts
from services.graph_query.findings.neo4j_store import Neo4jFindings
from services.graph_query.history.neo4j_store import Neo4jHistory
from services.graph_query.idempotency.neo4j_store import Neo4jKeyStore
from services.graph_query.inventory.neo4j_store import Neo4jInventory
from services.graph_query.llm_extraction.graph_reader import GraphReader, Neo4jGraphReader
from services.graph_query.local_extraction.gazetteer import Gazetteer, GazetteerCache
from services.graph_query.neo4j.database import WRITE_LIMIT, Database, Transaction
from services.graph_query.neo4j.row_mapping import filter_parameters, instant
from services.graph_query.neo4j.schema import Schema, check_ready, ensure_schema
from services.graph_query.neo4j.space_locks import SpaceLocks
from services.graph_query.neo4j.space_writer import SpaceContents, SpaceWriter
from services.graph_query.neo4j.warm_up import QueryPlanWarmer
from services.graph_query.ontology.neo4j_store import Neo4jOntologies
from services.graph_query.quarantine.neo4j_store import Neo4jQuarantine
from services.graph_query.search.as_known import Neo4jAsKnown
from services.graph_query.search.neo4j_store import Neo4jSearch
from services.graph_query.search.reranking import Neo4jReranking
from services.graph_query.transfer.neo4j_store import Neo4jTransfer
from services.runtime.errors import (
    FieldError,
    InvalidFieldError,
    NotFoundError,
    OverloadedError,
    StoreUnavailableError,
    WrongStateError,
)
from services.runtime.times import utc_now

T = TypeVar("T")


_KNOWN_SPACES = 10_000


# Less than the probe timeout, so that a late probe can still be interpreted.
_PING_SECONDS = 1.5


_TICK = timedelta(microseconds=1)


Work = Callable[[SpaceWriter], Awaitable[T]]


class Neo4jStore(Neo4jSearch, Neo4jEntities):
    """Implements `GraphStore` on Neo4j. Writers of one space wait for each other; spaces are independent."""

    def __init__(
        self, database: Database, schema: Schema, *, probed: Database | None = None
    ) -> None:
        """`probed` has a connection of its own for health probes, so that they never wait for calls."""
        super().__init__(database)
        self._probed = probed or database
        self._schema = schema
        self._gazetteers = GazetteerCache()
        self._spaces: set[str] = set()
        self._space_locks = SpaceLocks(WRITE_LIMIT)
        self._ready = False
        self.warmer = QueryPlanWarmer(database.connect, self._warm_up, database.pending_plans)
        self.findings = Neo4jFindings(database, self._write)
        self.extractions = Neo4jExtractions(database, self._write)
        self.ontologies = Neo4jOntologies(database)
        self.history = Neo4jHistory(database)
        self.reranking = Neo4jReranking(database)
        self.as_known = Neo4jAsKnown(database)
        self.entities = Neo4jEntityStore(database)
        self.relations = Neo4jRelations(database, self._write)
        self.inventory = Neo4jInventory(database, self._write)
        self.quarantine = Neo4jQuarantine(database, self._write)
        self.transfer = Neo4jTransfer(database, self._write)
        self.embeddings = Neo4jEmbeddings(database, self._write)
        self.corrections = Neo4jCorrections(database, self._write)
        self.keys = Neo4jKeyStore(database)

    async def ensure_schema(self) -> None:
        """Creates missing constraints and indexes and waits until they are online."""
        await ensure_schema(self._database, self._schema)
        self._ready = True
        self.warmer.start()

    async def add_episodes(self, space: str, passages: Sequence[Passage]) -> EpisodeCounts:
        """Adds passages in one transaction."""
        counts, revision = await self._write(space, lambda writer: add_episodes(writer, passages))
        return replace(counts, revision=revision)

    async def delete_episodes(self, space: str, uuids: Sequence[str]) -> DeletionCounts:
        """Removes episodes in one transaction."""
        return (await self._write(space, lambda writer: delete_episodes(writer, uuids)))[0]

    async def add_facts(
        self, space: str, facts: Sequence[GivenFact] | FactBatch, model: str
    ) -> FactCounts:
        """Adds facts in one transaction."""
        batch = facts if isinstance(facts, FactBatch) else FactBatch.of(space, facts)
        length = batch.vector_length() if model else 0
        counts, revision = await self._write(
            space, lambda writer: add_facts(writer, batch, model), model, length
        )
        return replace(counts, revision=revision)

    def known(self, space: str, model: str) -> GraphReader:
        """Returns the reader of a space that extraction uses, for vectors of this model."""
        return Neo4jGraphReader(self._database, self, space, model)

    async def end_fact(self, space: str, uuid: str, at: datetime) -> EndedFact:
        """Ends a fact in one transaction."""
        changed, revision = await self._write(space, lambda writer: end_fact(writer, uuid, at))
        found = await self.facts(space, [uuid])
        if uuid not in found:  # Deleted concurrently by another call.
            raise NotFoundError("fact")
        return EndedFact(found[uuid], changed, revision)

    @property
    def pools(self) -> tuple[Database]:
        """Returns the pool of all calls, for metrics."""
        return (self._database,)

    async def ping(self) -> None:
        """Raises StoreUnavailableError if Neo4j does not answer or its indexes are not online.

        They are looked at once plans are warm: the look would itself have to be planned, which delays searches.
        """
        self._check_schema()
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(_PING_SECONDS):
                if self.warmer.warming:
                    await self._probed.probe()
                else:
                    await check_ready(self._probed, self._schema)
        except TimeoutError:
            # A Neo4j under full load may miss the probe's deadline and still answer its callers.
            if not self._database.answered_since(started):
                raise StoreUnavailableError("neo4j") from None
        except StoreUnavailableError:
            self.warmer.start()
            raise

    async def close(self) -> None:
        """Closes all connections."""
        await self._database.close()
        await self._probed.close()

    def _check_schema(self) -> None:
        if not self._ready:
            raise StoreUnavailableError("neo4j", message="neo4j has no schema yet.")

    async def _warm_up(self, name: str) -> None:
        """Runs a query for no space, which finds and changes nothing, so that it is planned."""
        nothing = {
            **filter_parameters("", FactFilter(0.0, 0.0)),
            "lucene": 'text:"nothing"',
            "vector": [1.0],
            "limit": 1,
            "fetch": 1,
            "checked": 1,
            "scan": 1,
            "keys": [],
            "chunks": [],
            "entities": [],
            "max_mentions": 1,
            "max_about": 1,
            "max_cited": 1,
            "at": 0.0,
            "about": 0,
            "seeds": [],
            "hops": 1,
            "types": [],
            "min_strength": 0.0,
            "degree": 1,
            "open": OPEN,
            "direction": "both",
            "weights": {},
            "frontier": 1,
            "edges": 1,
        }
        await self._database.warm_up(name, **nothing)

    async def _write(
        self, space: str, work: Work[T], model: str = "", length: int = 0
    ) -> tuple[T, int]:
        """Runs a write of a space. Raises StoreUnavailableError until the schema exists.

        `model` and `length` are those of the vectors to be written.
        """
        self._check_schema()

        async def transaction(tx: Transaction) -> tuple[T, int, int, SpaceWriter]:
            rows = await tx.run("lock_space", space=space)
            if not rows:  # The database was emptied: the next attempt creates the node again.
                self._spaces.discard(space)
                raise StoreUnavailableError("neo4j")
            state = rows[0]
            if model:
                _check_vectors(state, model, length)
            gazetteer = await self._gazetteer(tx, space, state["name_revision"])
            now = _after(instant(state["last_write"]))
            has = SpaceContents(state["texts"], state["aliases"], state["sources"])
            stated = state["source_revision"] + 1
            writer = SpaceWriter(tx, space, gazetteer, now, source_revision=stated, has=has)
            result = await work(writer)
            await writer.count_mentions()
            if writer.changed:
                names = int(writer.names_changed)
                parameters = {"space": space, "names": names, "now": writer.now}
                state = (await tx.run("raise_revision", **parameters))[0]
            return result, state["revision"], state["name_revision"], writer

        async with self._space_locks.hold(space):
            with self.warmer.pause_for_write():
                await self._ensure_space(space)
                result, revision, names, writer = await self._database.write(transaction)
        self._gazetteers.put(space, names, writer.gazetteer)
        return result, revision

    async def _ensure_space(self, space: str) -> None:
        """Creates the node that writers lock. Creating it inside their transactions could deadlock."""
        if space in self._spaces:
            return
        await self._database.write(lambda tx: tx.run("create_space", space=space))
        if len(self._spaces) >= _KNOWN_SPACES:
            self._spaces.clear()
        self._spaces.add(space)

    async def _gazetteer(self, tx: Transaction, space: str, revision: int) -> Gazetteer:
        stored = self._gazetteers.get(space, revision)
        if stored is not None:
            return stored
        rows = await tx.run("gazetteer_names", space=space)
        return Gazetteer.of({row["key"]: tuple(row["uuids"]) for row in rows})


def _check_vectors(state: Mapping[str, Any], model: str, length: int) -> None:
    """Raises an error unless a space accepts vectors of a model and a length (0 for none)."""
    if state["changing"]:
        raise OverloadedError(RETRY_SECONDS)
    if state["model"] not in (None, model):
        raise WrongStateError("The space holds vectors of another model.")
    if length and state["dimension"] not in (None, length):
        text = f"must have {state['dimension']} values"
        raise InvalidFieldError(FieldError("embedding", text))


def _after(last: datetime | None) -> datetime:
    """Returns the time of a write: always later than the space's last one, even if machines' clocks differ."""
    now = utc_now()
    return now if last is None else max(now, last + _TICK)
