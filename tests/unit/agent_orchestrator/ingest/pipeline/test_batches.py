"""Uploads are read into batches: which documents share a batch, and what is read again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from services.agent_orchestrator.ingest.content_types import MAILBOX, MESSAGES
from services.agent_orchestrator.ingest.documents import ParsedDocument, Rejected, Upload
from services.agent_orchestrator.ingest.pipeline.batches import (
    BATCH_DOCUMENTS,
    MAX_TAKES,
    MIN_DOCUMENTS,
    UPLOADS_AT_ONCE,
    Batch,
    Reader,
)
from services.agent_orchestrator.ingest.sandbox.reader import Parsers, open_parsers
from services.agent_orchestrator.ingest.uploads import stored_upload, upload_arguments
from services.agent_orchestrator.jobs.records import JobRecord
from services.agent_orchestrator.jobs.work_store import ReadJob, TakenUpload

MAX = 15 * 2**20


def taken(
    name: str,
    *ids: str,
    text: str = "text",
    position: int = 0,
    reached: int = 0,
    again: Sequence[int] = (),
    takes: int = 1,
) -> TakenUpload:
    raw = "\n".join(json.dumps({"id": one, "text": text}) for one in ids)
    upload = Upload("application/jsonl", raw.encode())
    now = datetime.now(UTC)
    job = JobRecord(
        id=name,
        number=1,
        space="space",
        user="",
        request_id="",
        kind="upload",
        arguments=upload_arguments(upload),
        size=len(raw),
        state="running",
        documents_total=len(ids),
        documents_searchable=0,
        documents_graph_ready=0,
        documents_unchanged=0,
        documents_failed=0,
        chunks_written=0,
        warning_count=0,
        waiting_for="",
        progress=None,
        result=None,
        create_time=now,
        update_time=now,
        start_time=now,
        searchable_time=None,
        graph_ready_time=None,
        end_time=None,
    )
    return TakenUpload(job, upload.data, position, reached, frozenset(again), takes)


def with_content_type(upload: TakenUpload, content_type: str, data: bytes) -> TakenUpload:
    """Returns the same job with an upload of another content type."""
    arguments = upload_arguments(Upload(content_type, data))
    return replace(upload, data=data, job=replace(upload.job, arguments=arguments))


async def read(
    *uploads: TakenUpload, max_size: int = MAX, parsers: Parsers | None = None
) -> list[Batch]:
    async def more(claimed: Sequence[str]) -> list[TakenUpload]:
        return [one for one in uploads if one.job.id not in claimed][:UPLOADS_AT_ONCE]

    parse = (parsers or Parsers()).parse
    reader = Reader(more, parse, space="space", dimension=4, max_size=max_size, claimed=set())
    return [batch async for batch in reader.batches()]


def ids(batch: Batch) -> list[str]:
    return [document.id for document in batch.documents]


async def sizes(*uploads: TakenUpload, max_size: int = MAX) -> list[int]:
    return [len(batch.entries) for batch in await read(*uploads, max_size=max_size)]


async def test_first_and_last_batches_are_small_so_that_the_embedder_does_not_wait() -> None:
    many = [str(n) for n in range(MIN_DOCUMENTS + 4 * BATCH_DOCUMENTS)]
    first, *others = await sizes(taken("j", *many))
    assert first == MIN_DOCUMENTS
    assert others == [BATCH_DOCUMENTS] * 3 + [
        BATCH_DOCUMENTS // 2,
        MIN_DOCUMENTS,
        MIN_DOCUMENTS,
    ]


async def test_the_batch_size_depends_on_what_is_left_of_all_waiting_uploads() -> None:
    half = MIN_DOCUMENTS // 2
    one, other = ([f"{job}{n}" for n in range(3 * half)] for job in ("a", "b"))
    assert await sizes(taken("j1", *one), taken("j2", *other)) == [MIN_DOCUMENTS] * 3


async def test_many_small_uploads_fill_large_batches_although_few_are_claimed_at_once() -> None:
    many = [taken(f"j{n}", f"d{n}") for n in range(12 * UPLOADS_AT_ONCE)]
    first, *others, last, _ = await sizes(*many)
    assert first == MIN_DOCUMENTS
    assert others == [BATCH_DOCUMENTS] * len(others)
    assert last >= MIN_DOCUMENTS


async def test_an_upload_that_is_read_again_counts_by_what_is_left_of_it() -> None:
    many = [str(n) for n in range(3 * MIN_DOCUMENTS)]
    upload = taken("j", *many, position=MIN_DOCUMENTS)
    assert await sizes(upload) == [MIN_DOCUMENTS, MIN_DOCUMENTS]


async def test_a_batch_fits_into_one_message() -> None:
    assert await sizes(taken("j", "a", "b", "c", text="x" * 1000), max_size=3000) == [2, 1]


async def test_a_document_that_occurs_twice_is_in_two_batches() -> None:
    assert await sizes(taken("j", "a", "b", "a", "c")) == [2, 2]


async def test_waiting_uploads_share_a_batch_in_their_order() -> None:
    [batch] = await read(taken("j1", "a"), taken("j2", "b", "c"), taken("j3", "d"))
    assert ids(batch) == ["a", "b", "c", "d"]
    outcome = {job.job_id: (job.position, job.read, len(job.searchable)) for job in batch.outcome()}
    assert outcome == {"j1": (1, True, 1), "j2": (2, True, 2), "j3": (1, True, 1)}


async def test_reading_resumes_at_the_recorded_position() -> None:
    [batch] = await read(taken("j", "a", "b", "c", position=2))
    assert ids(batch) == ["c"]
    [outcome] = batch.outcome()
    assert (outcome.position, outcome.read) == (3, True)


async def test_only_bytes_after_the_recorded_offset_are_read() -> None:
    whole = taken("j", "a", "b", "c")
    data = whole.data.replace(b"\n", b"\n\n") + b"\nno JSON"
    [first] = await read(replace(whole, data=data[: data.index(b'{"id": "c"')]))
    [read_first] = first.outcome()
    assert (read_first.position, read_first.line) == (2, 3)
    rest = replace(
        whole,
        data=data[read_first.offset :],
        position=read_first.position,
        offset=read_first.offset,
        line=read_first.line,
    )
    [batch] = await read(rest)
    assert ids(batch) == ["c"]
    [outcome] = batch.outcome()
    assert (outcome.position, outcome.offset, outcome.line, outcome.read) == (4, len(data), 6, True)
    assert [(one.position, one.document_id) for one in outcome.failures] == [(3, "line 6")]


async def test_only_mails_after_the_recorded_offset_are_read() -> None:
    mails = [b"From a 10:0%d\nMessage-ID: <%d>\n\ntext\n\n" % (n, n) for n in range(3)]
    data = b"no mail\n\n" + b"".join(mails)
    whole = with_content_type(taken("j", "0", "1", "2"), MAILBOX, data)
    async with open_parsers() as parsers:
        [first] = await read(replace(whole, data=data[: -len(mails[2])]), parsers=parsers)
        [noted] = first.outcome()
        assert (noted.position, noted.offset) == (3, len(data) - len(mails[2]))
        # The bytes that were read before are no longer passed.
        rest = replace(whole, data=mails[2], position=noted.position, offset=noted.offset)
        [batch] = await read(rest, parsers=parsers)
    assert ids(batch) == ["2"]
    [outcome] = batch.outcome()
    assert (outcome.position, outcome.offset, outcome.read) == (4, len(data), True)


async def test_threads_that_were_read_are_not_assembled_again() -> None:
    lines = [{"thread": name, "text": name} for name in ("a", "b", "c", "a")]
    data = b"no JSON\n" + b"\n".join(json.dumps(line).encode() for line in lines)
    whole = with_content_type(taken("j", "", "a", "b", "c"), MESSAGES, data)
    [batch] = await read(whole)
    assert ids(batch) == ["a", "b", "c"]
    again = replace(whole, position=2)
    parts = [part async for part in Parsers().parse(stored_upload(again))]
    assert [type(one) for part in parts for one in part] == [Rejected] * 2 + [ParsedDocument] * 2
    [batch] = await read(again)
    assert ids(batch) == ["b", "c"]
    [outcome] = batch.outcome()
    assert (outcome.position, outcome.read, outcome.failures) == (4, True, ())


async def test_a_failed_thread_is_assembled_again_for_its_retry() -> None:
    data = b"\n".join(json.dumps({"thread": n, "text": "x"}).encode() for n in ("a", "b", "c"))
    whole = with_content_type(taken("j", "a", "b", "c"), MESSAGES, data)
    [batch] = await read(replace(whole, reached=3, again=frozenset([1])))
    assert ids(batch) == ["b"]


async def test_a_job_that_is_removed_from_its_batch_has_no_outcome() -> None:
    [batch] = await read(taken("j1", "a"), taken("j2", "b", "c"))
    assert batch.passes == {"j1": 0, "j2": 0}
    batch.keep({"j2"})
    assert ids(batch) == ["b", "c"]
    assert [job.job_id for job in batch.outcome()] == ["j2"]


async def test_a_retried_job_reads_only_documents_that_failed_or_were_not_reached() -> None:
    [batch] = await read(taken("j", "a", "b", "c", "d", reached=3, again=[1]))
    assert ids(batch) == ["b", "d"]
    assert [one.position for one in batch.outcome()[0].searchable] == [1, 3]


async def test_a_document_that_keeps_ending_the_worker_fails_and_the_next_goes_alone() -> None:
    batches = await read(taken("j", "a", "b", "c", takes=MAX_TAKES + 1))
    outcome: list[ReadJob] = [job for batch in batches for job in batch.outcome()]
    [failure] = outcome[0].failures
    assert (failure.position, failure.document_id) == (0, "a")
    assert "ended the worker" in failure.reason
    assert [ids(batch) for batch in batches] == [["b"], ["c"], []]
    assert outcome[-1].read
