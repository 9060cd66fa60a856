"""The embedding step keeps the vectors that it has, whatever happens to the rest of the batch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.agent_orchestrator.ingest.documents import ParsedDocument
from services.agent_orchestrator.ingest.pipeline.batches import BATCH_CHUNKS, Batch, Source
from services.agent_orchestrator.ingest.pipeline.prepare import prepare
from services.agent_orchestrator.ingest.pipeline.stages import PARTS_PER_BATCH, Stages
from services.agent_orchestrator.jobs.retries import Retries
from services.models.errors import EmbedderUnavailable
from services.runtime.context import CallContext, call_scope
from tests.stubs.embedders import StubEmbedder


@pytest.fixture(autouse=True)
def call() -> Iterator[None]:
    with call_scope(CallContext("r", "m", "s", "u", frozenset({"write"}))):
        yield


def stages(embedder: StubEmbedder) -> Stages:
    unused = None
    return Stages(
        vector=unused,  # type: ignore[arg-type] # embedding calls no tier
        embedder=embedder,  # type: ignore[arg-type] # of one model
        retries=Retries(0),
    )


def batch(*texts: str) -> Batch:
    made = Batch()
    for place, text in enumerate(texts):
        parsed = ParsedDocument(document_id=f"d{place}", title="t", source="", text=text)
        document = prepare(parsed, "s", dimension=4, max_size=2**20)
        made.add(Source(None, None), place, document)  # type: ignore[arg-type] # not read here
    return made


def vectors(of: Batch) -> list[int]:
    return [len(chunk.embedding) for one in of.documents for chunk in one.input.chunks]


async def test_an_interrupted_batch_continues_with_the_vectors_that_it_had() -> None:
    embedder = StubEmbedder()
    subject, texts = stages(embedder), [f"text {number}" for number in range(9)]
    part = batch(*texts)
    calls = 0

    async def fail_at_the_third_call() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise EmbedderUnavailable("scripted")

    embedder._fail_as_scripted = fail_at_the_third_call  # type: ignore[method-assign]
    with pytest.raises(EmbedderUnavailable):
        await subject.embed(part)
    assert (part.embedded, part.texts) == (3, 9)
    again = batch(*texts)  # the next turn reads the documents again
    await subject.embed(again)
    assert vectors(again) == [4] * 9
    assert sorted(embedder.texts) == sorted(f"t\n{text}" for text in texts)  # each once


async def test_a_document_whose_text_the_model_refuses_is_removed_and_the_others_have_vectors() -> (
    None
):
    embedder = StubEmbedder(refused="poison")
    subject = stages(embedder)
    await subject.embed(batch(*(f"text {number}" for number in range(40))))  # parts have grown
    part = batch("a", "b", "some poison", "c", "d")
    await subject.embed(part)
    assert [document.id for document in part.documents] == ["d0", "d1", "d3", "d4"]
    assert vectors(part) == [4] * 4
    [(_, failure)] = part.failures
    assert failure.document_id == "d2"


async def test_batches_hold_as_many_chunks_as_are_embedded_in_a_few_parts() -> None:
    subject = stages(StubEmbedder())
    assert subject.batch_chunks == BATCH_CHUNKS  # the speed is not known yet
    await subject.embed(batch("text"))
    assert subject.batch_chunks == 2 * PARTS_PER_BATCH
    await subject.embed(batch(*(f"text {number}" for number in range(500))))
    assert subject.batch_chunks == BATCH_CHUNKS
