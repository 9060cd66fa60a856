"""Documents that go through the stages together, whichever uploads they came with."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.ingest.documents import BEGINNING, Place
from services.agent_orchestrator.ingest.parsing import Upload
from services.agent_orchestrator.ingest.prepare import Prepared
from services.agent_orchestrator.jobs.queue import SEARCH
from services.agent_orchestrator.jobs.records import Failure
from services.agent_orchestrator.jobs.work import ReadJob, Searchable, TakenUpload
from services.runtime.times import to_timestamp

BATCH_DOCUMENTS = 200
LEAST_DOCUMENTS = 50
BATCH_CHUNKS = 512


@dataclass(eq=False, slots=True)
class Source:
    """An upload in hand: how far it has been read in this pass, and whether to its end."""

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
        """How many documents are still to be read, whether they count or not."""
        return max(self.taken.job.documents_total - self.position, 0)

    def counts(self, position: int) -> bool:
        """Whether the document there is still to be done: those of an earlier pass are, where they failed."""
        if position < self.taken.position:
            return False
        return position >= self.taken.reached or position in self.taken.again


class Reached(NamedTuple):
    """How far an upload was read: its documents, the place in its bytes, and whether that is its end."""

    source: Source
    position: int
    place: Place
    ended: bool


@dataclass(eq=False, slots=True)
class Entry:
    """A document of a batch, and its place in its upload."""

    source: Source
    position: int
    document: Prepared


@dataclass(eq=False, slots=True)
class Batch:
    """Document ids are distinct, and all of it fits into one message. `number` counts a turn's batches from 0."""

    number: int = 0
    entries: list[Entry] = field(default_factory=list)
    failures: list[tuple[Source, Failure]] = field(default_factory=list)
    # How far the sources were read when the batch was closed, by job id.
    read: dict[str, Reached] = field(default_factory=dict)
    size: int = 0
    chunks: int = 0
    _ids: set[str] = field(default_factory=set)

    @property
    def documents(self) -> list[Prepared]:
        """The documents in order."""
        return [entry.document for entry in self.entries]

    def fits(self, document: Prepared, max_size: int, left: int) -> bool:
        """Whether the document can join; `left` documents, this one included, are known to be still to be read."""
        if not self.entries:
            return True
        return (
            len(self.entries) < self._most(left)
            and self.chunks + len(document.input.chunks) <= BATCH_CHUNKS
            and self.size + document.size <= max_size
            and document.id not in self._ids
        )

    def _most(self, left: int) -> int:
        """Documents that it may have. While the first batch of a turn is read, and while the last is stored, the
        embedder has nothing to do: the first is small, and one with as many as are left is closed.
        """
        if not self.number:
            return LEAST_DOCUMENTS
        return min(BATCH_DOCUMENTS, max(LEAST_DOCUMENTS, left))

    def add(self, source: Source, position: int, document: Prepared) -> None:
        """Joins a document to the batch."""
        self.entries.append(Entry(source, position, document))
        self._ids.add(document.id)
        self.size += document.size
        self.chunks += len(document.input.chunks)

    def refuse(self, source: Source, position: int, document_id: str, reason: str) -> None:
        """Notes a document that cannot be taken."""
        self.failures.append((source, Failure(position, document_id, SEARCH, reason)))

    def reject(self, document: Prepared, reason: str) -> None:
        """Takes a document out of the batch: the others go on."""
        [entry] = [one for one in self.entries if one.document is document]
        self.entries.remove(entry)
        self.refuse(entry.source, entry.position, document.id, reason)

    def note(self, source: Source, *, ended: bool) -> None:
        """The source has been read so far, or to its end."""
        self.read[source.job_id] = Reached(source, source.position, source.place, ended)

    @property
    def passes(self) -> dict[str, int]:
        """Which pass over each of its jobs it belongs to: job id to how often it had been tried again."""
        return {job_id: read.source.taken.retries for job_id, read in self.read.items()}

    def keep(self, job_ids: Set[str]) -> None:
        """Takes out all other jobs, with how far they were read: nothing of them is noted."""
        self.entries = [one for one in self.entries if one.source.job_id in job_ids]
        self.failures = [one for one in self.failures if one[0].job_id in job_ids]
        self.read = {key: value for key, value in self.read.items() if key in job_ids}

    def outcome(self) -> list[ReadJob]:
        """What is to be noted of the batch, job by job in order of their ids."""
        searchable: dict[str, list[Searchable]] = {}
        for entry in self.entries:
            searchable.setdefault(entry.source.job_id, []).append(_searchable(entry))
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
                retries=reached.source.taken.retries,
                offset=reached.place.offset,
                line=reached.place.line,
            )
            for job_id, reached in sorted(self.read.items())
        ]


def ended_jobs(batch: Batch) -> Iterable[str]:
    """Ids of the jobs that the batch brings to their ends."""
    return (job_id for job_id, reached in batch.read.items() if reached.ended)


def _searchable(entry: Entry) -> Searchable:
    document = entry.document
    accepted = to_timestamp(entry.source.taken.job.create_time)
    episodes = ingest_pb2.BatchAddEpisodesRequest(episodes=document.episodes(accepted))
    return Searchable(
        position=entry.position,
        document_id=document.id,
        chunks=len(document.input.chunks),
        episodes=episodes.SerializeToString(),
        unchanged=document.unchanged,
        chunks_added=document.chunks_added,
    )
