"""Ingests the corpus through the public API and compares each document with what its author wrote."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC

import grpc
from google.protobuf.json_format import MessageToDict
from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_fixed

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc, jobs_pb2, jobs_pb2_grpc
from braid.vector.v1 import documents_pb2, documents_pb2_grpc, search_pb2, search_pb2_grpc
from deploy.local.stack import LocalStack
from gateway.content_types import content_type_of
from services.runtime.times import to_datetime
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.evals.formats.case import Case
from tests.evals.formats.mails import mail_cases
from tests.evals.formats.office import office_cases
from tests.evals.formats.texts import text_cases

_WORD = re.compile(r"[^\W_]+")
_PIECE = 512 * 1024
_SECONDS = 300.0
_AT_ONCE = 4
_CHUNKS = 100
_PREFIX = "JOB_WARNING_REASON_"


@dataclass(frozen=True, slots=True)
class Result:
    """What arrived of a file: kept and all words, and whether its title, date and warning are right."""

    case: Case
    kept: int
    words: int
    missing: tuple[str, ...]
    title: str
    day: str
    warnings: tuple[str, ...]
    failures: tuple[str, ...]

    @property
    def is_silent_loss(self) -> bool:
        """Whether words are missing, or something is not as written, and the job does not say so."""
        unsaid = bool(self.case.warning) and self.case.warning not in self.warnings
        return unsaid or (self.kept < self.words and not (self.warnings or self.failures))

    @property
    def has_right_title(self) -> bool:
        """Whether the title is the expected one."""
        return self.title == self.case.title

    @property
    def has_right_day(self) -> bool:
        """Whether the document is valid from the expected day."""
        return self.case.day is not None and self.day == self.case.day.isoformat()


def corpus() -> list[Case]:
    """Returns all files."""
    return [*text_cases(), *mail_cases(), *office_cases()]


async def run(options: Options) -> None:
    """Ingests every file as an upload of its own, reads the documents back, and prints the figures."""
    cases = corpus()
    async with running_stack() as stack:
        results = await _measure(stack, cases)
    for result in results:
        _explain(result)
    titled = [result for result in results if result.case.title is not None]
    dated = [result for result in results if result.case.day is not None]
    figures = Figures(options.name)
    figures.put("files", len(cases), "files")
    kept, words = sum(one.kept for one in results), sum(one.words for one in results)
    figures.put("text_kept_pct", 100 * kept / words, "%")
    figures.put("silent_losses", sum(one.is_silent_loss for one in results), "files")
    figures.put(
        "titles_right_pct", 100 * sum(one.has_right_title for one in titled) / len(titled), "%"
    )
    figures.put("dates_right_pct", 100 * sum(one.has_right_day for one in dated) / len(dated), "%")


async def _measure(stack: LocalStack, cases: Sequence[Case]) -> list[Result]:
    slots = asyncio.Semaphore(_AT_ONCE)
    async with (
        channel_to(stack, "agent_orchestrator") as agent,
        channel_to(stack, "vector_search") as vector,
    ):
        with bar("files", len(cases)) as show:
            done = 0

            async def one(case: Case) -> Result:
                nonlocal done
                async with slots:
                    result = await _patiently(agent, vector, case)
                done += 1
                show(done)
                return result

            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(one(case)) for case in cases]
            except ExceptionGroup as errors:
                raise MeasureError(f"ingestion: {errors.exceptions[0]}") from errors
    return [task.result() for task in tasks]


async def _patiently(agent: grpc.aio.Channel, vector: grpc.aio.Channel, case: Case) -> Result:
    """Tries again while the service is at its limit; the same file again changes nothing."""
    busy = retry_if_exception(
        lambda error: (
            isinstance(error, grpc.aio.AioRpcError)
            and error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        )
    )
    retrying = AsyncRetrying(
        retry=busy, wait=wait_fixed(1), stop=stop_after_delay(_SECONDS), reraise=True
    )
    return await retrying(_ingested, agent, vector, case)


async def _ingested(agent: grpc.aio.Channel, vector: grpc.aio.Channel, case: Case) -> Result:
    stub = ingest_pb2_grpc.IngestServiceStub(agent)
    try:
        accepted = await stub.IngestDocument(_parts(case), timeout=_SECONDS)
    except grpc.aio.AioRpcError as error:
        if error.code() != grpc.StatusCode.INVALID_ARGUMENT:
            raise
        words = _words(case.text)
        refusal = (error.details() or "refused",)
        return Result(case, 0, words.total(), tuple(words), "", "", (), refusal)
    job = accepted.job
    request = jobs_pb2.WatchJobRequest(job_id=job.id)
    async for update in jobs_pb2_grpc.JobServiceStub(agent).WatchJob(request, timeout=_SECONDS):
        job = update.job
        if job.searchable_count + job.failed_count >= job.unit_count:
            break
    return _compared(case, job, await _documents(vector, case))


async def _parts(case: Case) -> AsyncIterator[ingest_pb2.IngestDocumentRequest]:
    metadata = ingest_pb2.DocumentMetadata(
        source=case.name, content_type=content_type_of(case.name) or ""
    )
    yield ingest_pb2.IngestDocumentRequest(metadata=metadata)
    for start in range(0, len(case.data), _PIECE):
        yield ingest_pb2.IngestDocumentRequest(data=case.data[start : start + _PIECE])


async def _documents(
    vector: grpc.aio.Channel, case: Case
) -> list[tuple[documents_pb2.Document, str]]:
    """Returns the file's documents with their texts; without a text if they are valid later."""
    stub = documents_pb2_grpc.DocumentServiceStub(vector)
    found = []
    for document_id in case.ids or (case.name,):
        request = documents_pb2.GetDocumentRequest(document_id=document_id)
        try:
            answer = await stub.GetDocument(request, timeout=_SECONDS)
        except grpc.aio.AioRpcError as error:
            if error.code() != grpc.StatusCode.NOT_FOUND:
                raise
            continue
        found.append((answer.document, await _text(vector, answer.chunk_ids)))
    return found or await _later(stub, case)


async def _later(
    stub: documents_pb2_grpc.DocumentServiceStub, case: Case
) -> list[tuple[documents_pb2.Document, str]]:
    request = documents_pb2.ListDocumentVersionsRequest(document_id=case.name)
    try:
        answer = await stub.ListDocumentVersions(request, timeout=_SECONDS)
    except grpc.aio.AioRpcError as error:
        if error.code() != grpc.StatusCode.NOT_FOUND:
            raise
        return []
    return [
        (documents_pb2.Document(title=version.title, valid_time=version.valid_time), "")
        for version in answer.versions[:1]
    ]


async def _text(vector: grpc.aio.Channel, chunk_ids: Sequence[str]) -> str:
    stub = search_pb2_grpc.VectorSearchServiceStub(vector)
    parts: list[str] = []
    for start in range(0, len(chunk_ids), _CHUNKS):
        request = search_pb2.GetChunksRequest(chunk_ids=chunk_ids[start : start + _CHUNKS])
        answer = await stub.GetChunks(request, timeout=_SECONDS)
        parts += [chunk.content for chunk in answer.chunks]
    return " ".join(parts)


def _compared(
    case: Case, job: jobs_pb2.Job, documents: Sequence[tuple[documents_pb2.Document, str]]
) -> Result:
    wanted = _words(case.text)
    there = Counter[str]()
    for document, text in documents:
        there += _words(f"{document.title} {text} {MessageToDict(document.metadata)}")
    missing = wanted - there
    first = documents[0][0] if documents else documents_pb2.Document()
    time = to_datetime(first.valid_time) if first.HasField("valid_time") else None
    reasons = (jobs_pb2.JobWarningReason.Name(one.reason) for one in job.warnings)
    return Result(
        case=case,
        kept=wanted.total() - missing.total(),
        words=wanted.total(),
        missing=tuple(missing),
        title=first.title,
        day=time.astimezone(UTC).date().isoformat() if time else "",
        warnings=tuple(name.removeprefix(_PREFIX).lower() for name in reasons),
        failures=tuple(one.reason for one in job.failures),
    )


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def _explain(result: Result) -> None:
    """Shows what is wrong with a file."""
    case = result.case
    if result.missing:
        note(f"{case.name}: missing {', '.join(result.missing[:5])} {result.failures}")
    if result.is_silent_loss:
        note(f"{case.name}: a silent loss; expected {case.warning!r}, warnings {result.warnings}")
    if case.title is not None and not result.has_right_title:
        note(f"{case.name}: title {result.title!r}, expected {case.title!r}")
    if case.day is not None and not result.has_right_day:
        note(f"{case.name}: valid from {result.day!r}, expected {case.day}")
