"""Repeated uploads of a document: unchanged, changed, duplicated, or with its former date."""

from __future__ import annotations

from braid.vector.v1 import documents_pb2
from services.runtime.errors import (
    VALID_TIME_TAKEN,
    FieldError,
    InvalidFieldError,
)
from tests.integration.agent_orchestrator.conftest import World
from tests.integration.agent_orchestrator.uploads import (
    SUCCEEDED,
    data,
    document,
    ingest,
    lines,
    reasons,
)


async def test_repeating_an_upload_writes_nothing(world: World) -> None:
    upload = lines({"id": "a", "text": "alpha"}, {"id": "b", "text": "beta"})
    await ingest(world, *upload)
    embedded, upserts = len(world.embedder.texts), world.vector.script.count("BatchUpsertDocuments")
    job = await ingest(world, *upload)
    assert job.state == SUCCEEDED
    assert (job.unchanged_count, job.written_chunk_count) == (2, 0)
    assert (job.searchable_count, job.graph_ready_count) == (2, 2)
    assert len(world.embedder.texts) == embedded
    assert world.vector.script.count("BatchUpsertDocuments") == upserts
    assert world.graph.writes["episodes"] == 2


async def test_repeating_an_upload_restores_episodes_that_the_graph_lacks(
    world: World,
) -> None:
    upload = lines({"id": "a", "text": "alpha"}, {"id": "b", "text": "beta"})
    await ingest(world, *upload)
    complete = dict(world.graph.episodes)
    world.graph.episodes.clear()
    await ingest(world, *upload)
    assert world.graph.episodes.keys() == complete.keys()


async def test_a_changed_paragraph_costs_one_embedding(world: World) -> None:
    paragraphs = [f"Paragraph {n}. " + "word " * 120 for n in range(4)]
    await ingest(world, document(document_id="d"), data("\n\n".join(paragraphs)))
    before = set(world.graph.episodes)
    world.embedder.texts.clear()
    paragraphs[3] = paragraphs[3].replace("Paragraph", "Passage")
    job = await ingest(world, document(document_id="d"), data("\n\n".join(paragraphs)))
    assert job.written_chunk_count == 1
    assert len(world.embedder.texts) == 1
    assert len(set(world.graph.episodes) - before) == 1


async def test_a_new_title_recomputes_every_vector(world: World) -> None:
    await ingest(world, document(document_id="d", title="old"), data("text"))
    await ingest(world, document(document_id="d", title="new"), data("text"))
    assert world.embedder.texts == ["old\ntext", "new\ntext"]


async def test_the_last_of_two_versions_in_one_upload_wins(world: World) -> None:
    await ingest(world, *lines({"id": "a", "text": "second"}))
    job = await ingest(world, *lines({"id": "a", "text": "first"}, {"id": "a", "text": "second"}))
    assert job.state == SUCCEEDED
    [stored] = world.vector.documents.values()
    assert stored.chunks[0].content == "second"


async def test_a_document_edited_under_its_former_date_is_valid_from_now_on(
    world: World,
) -> None:
    async def refuse_the_former_date(request: documents_pb2.BatchUpsertDocumentsRequest) -> None:
        for place, one in enumerate(request.documents):
            if one.document_id == "b" and one.HasField("valid_time"):
                field = f"documents[{place}].valid_time"
                raise InvalidFieldError(
                    FieldError(field, "another version of the document has it"),
                    violation=VALID_TIME_TAKEN,
                )

    world.vector.script.acts["BatchUpsertDocuments"] = refuse_the_former_date
    written = ({"id": i, "text": i, "valid_at": "2024-01-05"} for i in "abc")
    job = await ingest(world, *lines(*written))
    assert (job.state, reasons(job)) == (SUCCEEDED, {})
    dated = {d.document_id: d.HasField("valid_time") for d in world.vector.documents.values()}
    assert dated == {"a": True, "b": False, "c": True}
