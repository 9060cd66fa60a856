"""Measures entity memory over gRPC: many users with many entities and relationships, and every kind of query."""

from __future__ import annotations

import io
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator

import asyncpg
import numpy as np

from braid.agent.v1 import entity_memory_pb2 as pb
from braid.agent.v1 import entity_memory_pb2_grpc, profile_pb2, profile_pb2_grpc
from deploy.local.stack import LocalStack
from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.names import canonical_name
from services.agent_orchestrator.entity_memory.row_mapping import vector_text
from services.models.embedding.local_models import LOCAL_MODEL
from tests.benchmarks.command import Options
from tests.benchmarks.credentials import Metadata, credential
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.evals.metrics import percentile

USERS, ENTITIES, RELATIONSHIPS = 1_000, 500, 1_500
DIMENSION = 384
MEMORIES = 10_000
_USER = "user-0"
_TYPES = ("NOTE", "PREFERENCE", "DECISION")
_PROFILES = 200
_QUERIES = 1_000
_WARM_UP = 20
_SPACE = "measured"
_SECONDS = 30.0
_SYLLABLES = ("ka", "ro", "mi", "ten", "sul", "dor", "vex", "lan", "pri", "qua", "zet", "hol")

Ask = Callable[[pb.MemoryEntity, Metadata], Awaitable[object]]


async def run(options: Options) -> None:
    """Bulk-loads generated data as the schema's owner, then queries as users, one call at a time."""
    figures = Figures(options.name)
    rng = random.Random(options.seed)  # noqa: S311 - reproducible, not secret
    async with (
        running_stack(only=["agent_orchestrator", "vector_search"]) as stack,
        channel_to(stack, "agent_orchestrator") as channel,
    ):
        began = time.perf_counter()
        await _load(stack, rng)
        figures.put("load_s", time.perf_counter() - began, "s")
        stub = entity_memory_pb2_grpc.EntityMemoryServiceStub(channel)
        called = credential(stack.data, _SPACE)
        await _ask(stub, called, options.queries or _QUERIES, rng, figures)
        await _load_memories(stack, rng)
        await _profiles(profile_pb2_grpc.ProfileServiceStub(channel), called, figures)


async def _load(stack: LocalStack, rng: random.Random) -> None:
    """Loads with COPY as a superuser, who bypasses row-level security. The HNSW index is created after the load."""
    connection = await asyncpg.connect(stack.stores.postgres.admin_dsn, database="braid_agent")
    vectors = np.random.default_rng(rng.randrange(2**31)).standard_normal((4_096, DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [vector_text(row.astype(np.float32)) for row in vectors]
    try:
        with bar("users", USERS) as show:
            for number in range(USERS):
                await _load_user(connection, f"user-{number}", texts, rng)
                show(number + 1)
        note("loaded; creating the HNSW index")
        await connection.execute("set maintenance_work_mem = '1GB'")
        await connection.execute(f"select index_entity_vectors({DIMENSION})")
        await connection.execute(
            "vacuum analyze memory_entity, memory_relationship, memory_entity_vector"
        )
    finally:
        await connection.close()


async def _load_user(
    connection: asyncpg.Connection, user: str, texts: list[str], rng: random.Random
) -> None:
    own = uuid.uuid4()
    ids = [uuid.uuid4() for _ in range(ENTITIES)]
    names = [_name(rng, number) for number in range(ENTITIES)]
    types = list(EntityType)
    columns = ("space", "user_id", "id", "name", "canonical_name", "type", "confidence")
    rows = [(_SPACE, user, own, "User", "user", "self", 1.0)]
    rows += [
        (_SPACE, user, id_, name, canonical_name(name), types[n % len(types)].value, 0.9)
        for n, (id_, name) in enumerate(zip(ids, names, strict=True))
    ]
    await connection.copy_records_to_table("memory_entity", records=rows, columns=columns)
    lines = "".join(f"{_SPACE}\t{user}\t{LOCAL_MODEL}\t{id_}\t{rng.choice(texts)}\n" for id_ in ids)
    await connection.copy_to_table(
        "memory_entity_vector",
        source=io.BytesIO(lines.encode()),
        columns=["space", "user_id", "model", "entity_id", "embedding"],
    )
    ends = list(_ends([own, *ids], rng))
    await connection.copy_records_to_table(
        "memory_relationship",
        records=[
            (_SPACE, user, uuid.uuid4(), source, type_, target, f"uses it for {_name(rng, 0)}", 0.9)
            for source, type_, target in ends
        ],
        columns=(
            "space",
            "user_id",
            "id",
            "source_id",
            "type",
            "target_id",
            "context",
            "confidence",
        ),
    )


def _ends(ids: list[uuid.UUID], rng: random.Random) -> Iterator[tuple[uuid.UUID, str, uuid.UUID]]:
    """Yields distinct relationships; a fifth of them start at the user."""
    types = [one.value for one in RelationshipType]
    seen: set[tuple[uuid.UUID, str, uuid.UUID]] = set()
    while len(seen) < RELATIONSHIPS:
        source = ids[0] if len(seen) % 5 == 0 else rng.choice(ids[1:])
        one = (source, rng.choice(types), rng.choice(ids[1:]))
        if one[0] != one[2] and one not in seen:
            seen.add(one)
            yield one


def _name(rng: random.Random, number: int) -> str:
    word = "".join(rng.choice(_SYLLABLES) for _ in range(3))
    return f"{word.capitalize()} {number}" if number else word.capitalize()


async def _ask(
    stub: entity_memory_pb2_grpc.EntityMemoryServiceStub,
    called: Metadata,
    count: int,
    rng: random.Random,
    figures: Figures,
) -> None:
    kinds = _kinds(stub, rng)
    times: dict[str, list[float]] = {name: [] for name in kinds}
    total = count + _WARM_UP * len(kinds)
    with bar("queries", total) as show:
        for number in range(total):
            who = (*called, ("braid-user", f"user-{rng.randrange(USERS)}"))
            page = await stub.QueryEntities(
                pb.QueryEntitiesRequest(page_size=200), metadata=who, timeout=_SECONDS
            )
            entity = rng.choice(page.hits).entity
            name = list(kinds)[number % len(kinds)]
            began = time.perf_counter()
            await kinds[name](entity, who)
            if number >= _WARM_UP * len(kinds):
                times[name].append((time.perf_counter() - began) * 1000)
            show(number + 1)
    every = [one for taken in times.values() for one in taken]
    figures.put("query_p50_ms", percentile(every, 50), "ms")
    figures.put("query_p95_ms", percentile(every, 95), "ms")
    for name, taken in times.items():
        figures.put(f"query_p50_ms.{name}", percentile(taken, 50), "ms")
        figures.put(f"query_p95_ms.{name}", percentile(taken, 95), "ms")
    note(f"{USERS} users, {ENTITIES} entities and {RELATIONSHIPS} relationships each")


async def _load_memories(stack: LocalStack, rng: random.Random) -> None:
    """Gives one user typed memories, as rows only: the vector tier has none of them."""
    columns = (
        *("space", "user_id", "id", "document_id", "type", "title", "content", "tags"),
        *("importance", "metadata", "session_id", "ready"),
    )
    connection = await asyncpg.connect(stack.stores.postgres.admin_dsn, database="braid_agent")
    try:
        await connection.copy_records_to_table(
            "memory",
            records=[
                (
                    *(_SPACE, _USER, uuid.uuid4(), uuid.uuid4(), rng.choice(_TYPES), ""),
                    *(f"We use {_name(rng, number)}.", [], 0.5, "{}", "", True),
                )
                for number in range(MEMORIES)
            ],
            columns=columns,
        )
        await connection.execute("vacuum analyze memory")
    finally:
        await connection.close()


async def _profiles(
    stub: profile_pb2_grpc.ProfileServiceStub, called: Metadata, figures: Figures
) -> None:
    who = (*called, ("braid-user", _USER))

    async def profile() -> object:
        return await stub.GetProfile(
            profile_pb2.GetProfileRequest(), metadata=who, timeout=_SECONDS
        )

    async def context() -> object:
        request = profile_pb2.GetContextRequest(query="What do I use for reports?")
        return await stub.GetContext(request, metadata=who, timeout=_SECONDS)

    for name, ask in (("profile", profile), ("context", context)):
        taken = []
        for number in range(_WARM_UP + _PROFILES):
            began = time.perf_counter()
            await ask()
            if number >= _WARM_UP:
                taken.append((time.perf_counter() - began) * 1000)
        figures.put(f"{name}_p50_ms", percentile(taken, 50), "ms")
        figures.put(f"{name}_p95_ms", percentile(taken, 95), "ms")
    note(f"profile and context of a user with {MEMORIES} typed memories, none in the vector tier")


def _kinds(
    stub: entity_memory_pb2_grpc.EntityMemoryServiceStub, rng: random.Random
) -> dict[str, Ask]:
    """Returns every kind of query. The fuzzy one omits a letter of a name."""

    async def exact(entity: pb.MemoryEntity, who: Metadata) -> object:
        request = pb.QueryEntitiesRequest(query=entity.name)
        return await stub.QueryEntities(request, metadata=who, timeout=_SECONDS)

    async def fuzzy(entity: pb.MemoryEntity, who: Metadata) -> object:
        place = rng.randrange(1, 4)
        request = pb.QueryEntitiesRequest(query=entity.name[:place] + entity.name[place + 1 :])
        return await stub.QueryEntities(request, metadata=who, timeout=_SECONDS)

    async def listing(_entity: pb.MemoryEntity, who: Metadata) -> object:
        request = pb.QueryEntitiesRequest()
        return await stub.QueryEntities(request, metadata=who, timeout=_SECONDS)

    async def relationships(entity: pb.MemoryEntity, who: Metadata) -> object:
        request = pb.QueryRelationshipsRequest(entity_id=entity.id)
        return await stub.QueryRelationships(request, metadata=who, timeout=_SECONDS)

    async def related(entity: pb.MemoryEntity, who: Metadata) -> object:
        request = pb.GetRelatedEntitiesRequest(entity_id=entity.id, max_hops=2)
        return await stub.GetRelatedEntities(request, metadata=who, timeout=_SECONDS)

    async def question(entity: pb.MemoryEntity, who: Metadata) -> object:
        request = pb.AnswerRelationshipQueryRequest(query=f"What do I use for {entity.name}?")
        return await stub.AnswerRelationshipQuery(request, metadata=who, timeout=_SECONDS)

    async def own_question(_entity: pb.MemoryEntity, who: Metadata) -> object:
        request = pb.AnswerRelationshipQueryRequest(query="Who do I work with?")
        return await stub.AnswerRelationshipQuery(request, metadata=who, timeout=_SECONDS)

    return {
        "exact": exact,
        "fuzzy": fuzzy,
        "listing": listing,
        "relationships": relationships,
        "related": related,
        "question": question,
        "own_question": own_question,
    }
