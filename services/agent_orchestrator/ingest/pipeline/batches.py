"""Batches of documents across uploads, and the reader that fills them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from braid.vector.v1 import documents_pb2
from services.agent_orchestrator.ingest.document_warnings import DocumentWarning, WarningReason
from services.agent_orchestrator.ingest.documents import (
    BEGINNING,
    ParsedDocument,
    Place,
    Rejected,
    UnreadableError,
)
from services.agent_orchestrator.ingest.formats.parsing import Upload
from services.agent_orchestrator.ingest.pipeline.prepare import Prepared, prepare
from services.agent_orchestrator.ingest.pipeline.stored_episodes import encode_episodes
from services.agent_orchestrator.ingest.uploads import stored_upload
from services.agent_orchestrator.jobs.queue import SEARCH
from services.agent_orchestrator.jobs.records import Failure, JobWarning
from services.agent_orchestrator.jobs.work_store import ReadJob, Searchable, TakenUpload
from services.runtime.times import to_datetime, to_timestamp

BATCH_DOCUMENTS = 200
MIN_DOCUMENTS = 50
BATCH_CHUNKS = 512


@dataclass(eq=False, slots=True)
class Source:
    """An upload in progress: how far this pass has read it, and whether to its end."""

    taken: TakenUpload
    upload: Upload
    position: int = 0
    place: Place = BEGINNING

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self.taken.job.id

    @property
    def left(self) -> int:
        """Number of documents still to be read, including those that are done already."""
        return max(self.taken.job.documents_total - self.position, 0)

    def counts(self, position: int) -> bool:
        """Whether the document at `position` is still to be done; from an earlier pass only failed documents are."""
        if position < self.taken.position:
            return False
        return position >= self.taken.reached or position in self.taken.again


class Reached(NamedTuple):
    """How far an upload was read: its documents, the position in its bytes, and whether that is its end."""

    source: Source
    position: int
    place: Place
    ended: bool


@dataclass(eq=False, slots=True)
class Entry:
    """A document of a batch, and its position in its upload."""

    source: Source
    position: int
    document: Prepared


@dataclass(eq=False, slots=True)
class Batch:
    """Documents with distinct ids that fit into one message together. `number` counts a turn's batches from 0."""

    number: int = 0
    entries: list[Entry] = field(default_factory=list)
    failures: list[tuple[Source, Failure]] = field(default_factory=list)
    # How far the sources were read when the batch was closed, by job id.
    read: dict[str, Reached] = field(default_factory=dict)
    size: int = 0
    chunks: int = 0
    # Texts that need a vector, and how many of them have one.
    texts: int = 0
    embedded: int = 0
    step: str = "reading"
    _ids: set[str] = field(default_factory=set)

    @property
    def documents(self) -> list[Prepared]:
        """The documents in order."""
        return [entry.document for entry in self.entries]

    def fits(
        self, document: Prepared, max_size: int, left: int, max_chunks: int = BATCH_CHUNKS
    ) -> bool:
        """Whether the document can join the batch; `left` documents are still to be read, including this one."""
        if not self.entries:
            return True
        return (
            len(self.entries) < self._max_documents(left)
            and self.chunks + len(document.input.chunks) <= max_chunks
            and self.size + document.size <= max_size
            and document.id not in self._ids
        )

    def _max_documents(self, left: int) -> int:
        """Returns the maximum number of documents. The embedder is idle while the first batch of a turn is read, so the
        first is small; it is also idle while the last is stored, so a batch closes when it has as many as are left.
        """
        if not self.number:
            return MIN_DOCUMENTS
        return min(BATCH_DOCUMENTS, max(MIN_DOCUMENTS, left))

    def add(self, source: Source, position: int, document: Prepared) -> None:
        """Adds a document to the batch."""
        self.entries.append(Entry(source, position, document))
        self._ids.add(document.id)
        self.size += document.size
        self.chunks += len(document.input.chunks)

    def refuse(self, source: Source, position: int, document_id: str, reason: str) -> None:
        """Records a document that cannot be ingested."""
        self.failures.append((source, Failure(position, document_id, SEARCH, reason)))

    def reject(self, document: Prepared, reason: str) -> None:
        """Removes a document from the batch and records its failure; the others continue."""
        [entry] = [one for one in self.entries if one.document is document]
        self.entries.remove(entry)
        self.refuse(entry.source, entry.position, document.id, reason)

    def note(self, source: Source, *, ended: bool) -> None:
        """Records how far the source has been read, and whether to its end."""
        self.read[source.job_id] = Reached(source, source.position, source.place, ended)

    @property
    def passes(self) -> dict[str, int]:
        """The pass over each of its jobs that the batch belongs to: job id to number of earlier retries."""
        return {job_id: read.source.taken.retries for job_id, read in self.read.items()}

    def keep(self, job_ids: Set[str]) -> None:
        """Removes all other jobs, including how far they were read: nothing of them is recorded."""
        self.entries = [one for one in self.entries if one.source.job_id in job_ids]
        self.failures = [one for one in self.failures if one[0].job_id in job_ids]
        self.read = {key: value for key, value in self.read.items() if key in job_ids}

    def outcome(self) -> list[ReadJob]:
        """Returns the batch's outcome for each job, ordered by job id."""
        searchable: dict[str, list[Searchable]] = {}
        for entry in self.entries:
            searchable.setdefault(entry.source.job_id, []).append(_searchable(entry))
        warnings: dict[str, list[JobWarning]] = {}
        for entry in self.entries:
            warnings.setdefault(entry.source.job_id, []).extend(_warnings(entry))
        failures: dict[str, list[Failure]] = {}
        for source, failure in self.failures:
            failures.setdefault(source.job_id, []).append(failure)
        return [
            ReadJob(
                job_id=job_id,
                position=reached.position,
                read=reached.ended,
                searchable=searchable.get(job_id, ()),
                failures=failures.get(job_id, ()),
                warnings=warnings.get(job_id, ()),
                retries=reached.source.taken.retries,
                offset=reached.place.offset,
                line=reached.place.line,
            )
            for job_id, reached in sorted(self.read.items())
        ]


def ended_jobs(batch: Batch) -> Iterable[str]:
    """Returns the ids of the jobs that the batch reads to their ends."""
    return (job_id for job_id, reached in batch.read.items() if reached.ended)


def _searchable(entry: Entry) -> Searchable:
    document = entry.document
    accepted = to_timestamp(entry.source.taken.job.create_time)
    return Searchable(
        position=entry.position,
        document_id=document.id,
        chunks=len(document.input.chunks),
        episodes=encode_episodes(document.episodes(accepted)),
        unchanged=document.unchanged,
        chunks_added=document.chunks_added,
    )


def _warnings(entry: Entry) -> Iterator[JobWarning]:
    document = entry.document
    accepted = entry.source.taken.job.create_time
    later = valid_later(document.input, accepted)
    for reason, text, where in (*document.warnings, *later):
        yield JobWarning(entry.position, document.id, reason, text, where)


def valid_later(
    document: documents_pb2.DocumentInput, accepted: datetime
) -> Iterator[DocumentWarning]:
    """Yields a warning for a document that searches do not find at the time `accepted`, because it is valid later."""
    if not document.HasField("valid_time"):
        return
    since = to_datetime(document.valid_time)
    if since > accepted:
        text = f"It is valid from {since:%Y-%m-%d}: searches as of an earlier time, such as now, do not find it."
        yield DocumentWarning(WarningReason.VALID_LATER, text)


UPLOADS_AT_ONCE = 64
MAX_TAKES = 6
ENDED_ITS_WORKER = f"ended the worker {MAX_TAKES} times"

Item = Prepared | Rejected
Parse = Callable[[Upload], AsyncIterator[Sequence[ParsedDocument | Rejected]]]
NextUploads = Callable[[Sequence[str]], Awaitable[Sequence[TakenUpload]]]


class Reader:
    """Reads the batches of one turn. `next_uploads` returns further uploads, except those with the given ids.

    `claimed` holds the ids of claimed jobs; the turn removes those recorded as read to their end.
    """

    def __init__(
        self,
        next_uploads: NextUploads,
        parse: Parse,
        *,
        space: str,
        dimension: int,
        max_size: int,
        claimed: set[str],
        max_chunks: Callable[[], int] = lambda: BATCH_CHUNKS,
    ) -> None:
        """`max_chunks` returns how many chunks the next batch may hold."""
        self._max_chunks = max_chunks
        self._next_uploads = next_uploads
        self._parse = parse
        self._space = space
        self._dimension = dimension
        self._max_size = max_size
        self._batch = Batch()
        self._left = 0
        self.claimed = claimed

    async def batches(self) -> AsyncIterator[Batch]:
        """Yields full batches, and a smaller one when no upload is left. Ends when there is nothing to read."""
        while taken := await self._next_uploads(sorted(self.claimed)):
            self.claimed.update(one.job.id for one in taken)
            sources = [_source(one) for one in taken]
            self._left = sum(one.left for one in sources)
            if len(sources) >= UPLOADS_AT_ONCE:  # the rest of the queue is unknown
                self._left += BATCH_DOCUMENTS
            for source in sources:
                async for batch in self._of_upload(source):
                    yield batch
        if self._batch.read:
            yield self._closed()

    async def _of_upload(self, source: Source) -> AsyncIterator[Batch]:
        alone = source.taken.takes > MAX_TAKES
        async for part in self._parse(source.upload):
            items = await asyncio.to_thread(self._prepared, source, part)
            for read, item in zip(part, items, strict=True):
                if self._is_full(item):
                    yield self._closed()
                self._add(source, item, read.end, alone=alone)
                if alone and self._batch.entries:
                    yield self._closed()
        self._batch.note(source, ended=True)

    def _prepared(
        self, source: Source, part: Sequence[ParsedDocument | Rejected]
    ) -> list[Item | None]:
        """Returns each document as the tiers accept it; None for documents that are done already."""
        start = source.position
        return [
            self._prepare(one) if source.counts(start + place) else None
            for place, one in enumerate(part)
        ]

    def _prepare(self, parsed: ParsedDocument | Rejected) -> Item:
        if isinstance(parsed, Rejected):
            return parsed
        try:
            return prepare(parsed, self._space, dimension=self._dimension, max_size=self._max_size)
        except UnreadableError as error:
            return Rejected(parsed.document_id, str(error))

    def _is_full(self, item: Item | None) -> bool:
        if not isinstance(item, Prepared):
            return False
        return not self._batch.fits(item, self._max_size, self._left, self._max_chunks())

    def _add(self, source: Source, item: Item | None, end: Place, *, alone: bool) -> None:
        position = source.position
        source.position, source.place = position + 1, end
        self._left -= 1
        first = alone and position == source.taken.position
        if isinstance(item, Rejected):
            self._batch.refuse(source, position, item.document_id, item.reason)
        elif isinstance(item, Prepared) and first:
            self._batch.refuse(source, position, item.id, ENDED_ITS_WORKER)
        elif isinstance(item, Prepared):
            self._batch.add(source, position, item)
        self._batch.note(source, ended=False)

    def _closed(self) -> Batch:
        batch, self._batch = self._batch, Batch(self._batch.number + 1)
        return batch


def _source(taken: TakenUpload) -> Source:
    """Returns an upload in progress, positioned after the part that was read before."""
    upload = stored_upload(taken)
    position = taken.position if upload.begin.offset else 0
    return Source(taken, upload, position, upload.begin)
