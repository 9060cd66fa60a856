"""An export has every kind of rows that a space can have, and an import gives each of them back."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp

from braid.agent.v1 import (
    agent_pb2,
    agent_pb2_grpc,
    entity_memory_pb2,
    entity_memory_pb2_grpc,
    ingest_pb2,
    jobs_pb2,
    memories_pb2,
)
from braid.graph.v1 import (
    corrections_pb2,
    findings_pb2,
    ontology_pb2,
    structure_pb2,
)
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.spaces.transfer_store import KINDS as KINDS_OF_ROWS
from services.graph_query.core.domain import DescribedEntity, EntityName
from services.graph_query.episodes.extraction_result import ExtractionResult
from services.graph_query.transfer.neo4j_store import KINDS
from services.runtime import space_rows
from services.runtime.channels import Metadata
from tests.integration.upkeep.conftest import WideEmbedder, World
from tests.integration.upkeep.test_space_transfer import (
    begin,
    delete,
    exported,
    finish,
    put,
    rows_of,
)
from tests.store_suite.graph.builders import passage

NOTE = "Ada met Bob and Carl in Vienna Hall. Dora knows Ada."


async def fill(world: World, caller: Metadata) -> None:
    """Writes something of every kind."""
    await fill_graph(world, caller)
    await fill_findings(world, caller)
    await fill_memories(world, caller)


async def fill_graph(world: World, caller: Metadata) -> None:
    """Writes documents, and facts that were ended, corrected, and withdrawn with their documents."""
    types = [ontology_pb2.EntityType(name="Person")]
    ontology = ontology_pb2.PutOntologyRequest(ontology=ontology_pb2.Ontology(entity_types=types))
    await world.findings.PutOntology(ontology, metadata=caller, timeout=20)
    await world.put("note", NOTE, "Ada", caller)
    about = ingest_pb2.DocumentMetadata(
        document_id="brief", content_type="text/plain", expire_time=Timestamp(seconds=4_000_000_000)
    )
    parts = [
        ingest_pb2.IngestDocumentRequest(metadata=about),
        ingest_pb2.IngestDocumentRequest(data=NOTE.encode()),
    ]
    upload = await world.ingest.IngestDocument(iter(parts), metadata=caller, timeout=20)
    await world.ended(upload.job.id, caller)
    await world.put("former", NOTE, "Former", caller)
    await state(world, caller, "Bob", "Carl", "Dora", "Eve")
    known = structure_pb2.ListFactsRequest(relation_type="KNOWS")
    found = await world.facts.ListFacts(known, metadata=caller, timeout=10)
    facts = {fact.object.name: fact.id for fact in found.facts}
    end = graph_pb2.EndFactRequest(
        fact_id=facts["Bob"], invalid_time=Timestamp(seconds=1_600_000_000)
    )
    await world.findings.EndFact(end, metadata=caller, timeout=20)
    await state(world, caller, "Bob", "Carl", "Dora", replace=True)
    frank = corrections_pb2.FactCorrection(object=corrections_pb2.EntityCorrection(name="Frank"))
    since = corrections_pb2.FactCorrection(valid_time=Timestamp(seconds=1_550_000_000))
    for name, correction in (("Carl", frank), ("Bob", since)):
        field = correction.ListFields()[0][0].name
        corrected = corrections_pb2.CorrectFactRequest(
            fact_id=facts[name], correction=correction, update_mask=FieldMask(paths=[field])
        )
        await world.findings.CorrectFact(corrected, metadata=caller, timeout=20)
    request = ingest_pb2.DeleteDocumentRequest(document_id="former")
    job = (await world.ingest.DeleteDocument(request, metadata=caller, timeout=20)).job
    await world.ended(job.id, caller)


async def state(world: World, caller: Metadata, *names: str, replace: bool = False) -> None:
    """States as a source whom Ada knows."""
    facts = [
        graph_pb2.FactInput(
            subject=graph_pb2.EntityInput(name="Ada", type="Person"),
            relation_type="KNOWS",
            object=graph_pb2.EntityInput(name=name),
            valid_time=Timestamp(seconds=1_500_000_000),
            document_id="former" if name == "Dora" else "note",
        )
        for name in names
    ]
    request = ingest_pb2.IngestFactsRequest(facts=facts, source="friends", replace=replace)
    answer = await world.ingest.IngestFacts(iter([request]), metadata=caller, timeout=20)
    assert not answer.refused, answer


async def fill_findings(world: World, caller: Metadata) -> None:
    """Writes a description of an entity, a finding about it that comes from an episode, and one about the finding."""
    note = passage(world.space, "read", "Note", "Ada is an engineer.")
    vector = tuple(float(value) for value in (await WideEmbedder().embed(["Ada"]))[0])
    described = DescribedEntity(EntityName("Ada", "Person"), "An engineer.", {}, vector)
    read = ExtractionResult(entities=(described,))
    await world.graph.extractions.add_extraction(world.space, note, read, "stub")
    finding = findings_pb2.FindingInput(
        external_id="first",
        finding=findings_pb2.FindingDetails(key_insight="Ada knows."),
        about_entities=[findings_pb2.FindingSubject(name="Ada")],
        chunk_ids=[note.uuid],
    )
    request = findings_pb2.AddFindingsRequest(findings=[finding])
    added = await world.findings.AddFindings(request, metadata=caller, timeout=20)
    about = findings_pb2.FindingInput(
        finding=findings_pb2.FindingDetails(key_insight="It is so."),
        about_finding_ids=[added.finding_ids[0]],
    )
    request = findings_pb2.AddFindingsRequest(findings=[about])
    await world.findings.AddFindings(request, metadata=caller, timeout=20)


async def fill_memories(world: World, caller: Metadata) -> None:
    """Writes a conversation, typed memories with a relation in a closed session, and entity memory."""
    agent = agent_pb2_grpc.AgentServiceStub(world.channel)
    asked = agent_pb2.AskRequest(
        question="Hello", conversation=agent_pb2.CONVERSATION_START_NEW, skip_memory=True
    )
    async for _ in agent.Ask(asked, metadata=caller, timeout=30):
        pass
    types = memories_pb2.PutMemoryTypesRequest(types=["NOTE", "TASK"])
    await world.memories.PutMemoryTypes(types, metadata=caller, timeout=20)
    for text in ("The pump leaks.", "The valve was replaced."):
        memory = memories_pb2.CreateMemoryRequest(content=text, type="NOTE", session_id="s")
        made = await world.memories.CreateMemory(memory, metadata=caller, timeout=20)
    changed = memories_pb2.UpdateMemoryRequest(memory_id=made.memory.id, content=f"{text} Today.")
    await world.memories.UpdateMemory(changed, metadata=caller, timeout=20)
    search = memories_pb2.SearchMemoriesRequest(query="pump valve", limit=5)
    await world.memories.SearchMemories(search, metadata=caller, timeout=20)
    close = memories_pb2.CloseMemorySessionRequest(session_id="s")
    await world.memories.CloseMemorySession(close, metadata=caller, timeout=20)
    entities = entity_memory_pb2_grpc.EntityMemoryServiceStub(world.channel)
    used = entity_memory_pb2.SaveRelationshipRequest(
        type=entity_memory_pb2.MEMORY_RELATIONSHIP_TYPE_USES,
        target=entity_memory_pb2.MemoryEndInput(
            name="PostgreSQL", type=entity_memory_pb2.MEMORY_ENTITY_TYPE_TOOL
        ),
        context="I use PostgreSQL.",
    )
    await entities.SaveRelationship(used, metadata=caller, timeout=20)


async def test_every_kind_of_rows_is_exported_and_imported(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_rows, "ROWS_AT_ONCE", 3)
    ours: Metadata = (
        ("authorization", "Bearer agent-key"),
        ("braid-space", world.space),
        ("braid-user", "ada"),
    )
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, WideEmbedder())  # its facts have vectors
        await world.start_worker(stack)
        await fill(world, ours)
        pages = await exported(world, ours)
        await delete(world, ours)
        begun = await begin(world, ours, world.space)
        for number, page in enumerate(pages, 1):
            await put(world, ours, begun.import_id, number, page)
        await finish(world, ours, begun.import_id)
        assert rows_of(await exported(world, ours)) == rows_of(pages)
    found = {(one.store, one.kind) for one in pages if one.rows}
    # The others are nodes and rows without relationships, written and read by the same code.
    assert {kind.name for kind in KINDS} - {
        kind for store, kind in found if store == jobs_pb2.STORE_NEO4J
    } == {"past_endings", "quarantines", "quarantined"}
    assert set(KINDS_OF_ROWS) - {
        kind for store, kind in found if store == jobs_pb2.STORE_ORCHESTRATOR
    } == {"removed_memory_relations", "memory_entity_vectors"}
