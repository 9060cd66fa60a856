"""Documents as both tiers take them: hashed, cut into chunks with their ids, without vectors yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.v1 import ingest_pb2
from braid.vector.v1 import documents_pb2
from services.agent_orchestrator.ingest.chunking import split
from services.agent_orchestrator.ingest.documents import (
    Metadata,
    ParsedDocument,
    Rejected,
    UnreadableError,
)
from services.agent_orchestrator.ingest.parsing import Upload, parse
from services.runtime.ids import chunk_id, content_sha256, document_hash
from services.runtime.times import to_timestamp

MAX_CHUNKS = 10_000
BATCH_DOCUMENTS = 200
BATCH_CHUNKS = 512
# What a chunk takes in a message besides its text and vector: ids, spans, lengths.
_CHUNK_OVERHEAD = 100


@dataclass(eq=False, slots=True)
class Prepared:
    """A document on its way: its message for the vector tier, and what is known of it so far."""

    input: documents_pb2.DocumentInput
    size: int
    unchanged: bool = False
    stored_chunks: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """The document's id."""
        return self.input.document_id

    def unembedded(self) -> Iterator[documents_pb2.ChunkInput]:
        """Chunks that the vector tier does not have yet."""
        return (chunk for chunk in self.input.chunks if chunk.id not in self.stored_chunks)

    def embedded_text(self, chunk: documents_pb2.ChunkInput) -> str:
        """What a chunk's vector is made of."""
        return f"{self.input.title}\n{chunk.content}"

    def episodes(self, accepted: Timestamp) -> list[ingest_pb2.EpisodeInput]:
        """All its chunks for the graph; without a valid time of its own the text was true when `accepted`."""
        known = self.input.HasField("valid_time")
        return [
            ingest_pb2.EpisodeInput(
                uuid=chunk.id,
                document_id=self.input.document_id,
                document_title=self.input.title,
                source=self.input.source,
                content=chunk.content,
                reference_time=self.input.valid_time if known else accepted,
            )
            for chunk in self.input.chunks
        ]


@dataclass(eq=False, slots=True)
class Batch:
    """Documents that go through the stages together: ids distinct, small enough for one message."""

    documents: list[Prepared] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    size: int = 0
    chunks: int = 0

    def fits(self, document: Prepared, max_size: int) -> bool:
        """Whether the document can join."""
        if not self.documents:
            return True
        return (
            len(self.documents) < BATCH_DOCUMENTS
            and self.chunks + len(document.input.chunks) <= BATCH_CHUNKS
            and self.size + document.size <= max_size
            and all(document.id != other.id for other in self.documents)
        )

    def add(self, document: Prepared) -> None:
        """Joins the document to the batch."""
        self.documents.append(document)
        self.size += document.size
        self.chunks += len(document.input.chunks)

    def reject(self, document: Prepared, reason: str) -> None:
        """Takes the document out of the batch: the others go on."""
        self.documents.remove(document)
        self.rejected.append(Rejected(document.id, reason))


def batches(upload: Upload, space: str, *, dimension: int, max_size: int) -> Iterator[Batch]:
    """The upload's documents in batches of at most `max_size` bytes with vectors of `dimension` values."""
    batch = Batch()
    for parsed in parse(upload):
        prepared = _prepared(parsed, space, dimension, max_size)
        if isinstance(prepared, Rejected):
            batch.rejected.append(prepared)
            continue
        if not batch.fits(prepared, max_size):
            yield batch
            batch = Batch()
        batch.add(prepared)
    yield batch


def _prepared(
    parsed: ParsedDocument | Rejected, space: str, dimension: int, max_size: int
) -> Prepared | Rejected:
    if isinstance(parsed, Rejected):
        return parsed
    try:
        return prepare(parsed, space, dimension=dimension, max_size=max_size)
    except UnreadableError as error:
        return Rejected(parsed.document_id, str(error))


def prepare(document: ParsedDocument, space: str, *, dimension: int, max_size: int) -> Prepared:
    """A document as the vector tier takes it. UnreadableError when it is too large for one message."""
    valid_time = to_timestamp(document.valid_time) if document.valid_time else None
    message = documents_pb2.DocumentInput(
        document_id=document.document_id,
        title=document.title,
        source=document.source,
        content_hash=document_hash(
            title=document.title,
            source=document.source,
            metadata=document.metadata,
            valid_time=document.valid_time.isoformat() if document.valid_time else None,
            text=document.text,
        ),
        metadata=_struct(document.metadata),
        valid_time=valid_time,
        chunks=_chunks(document, space),
    )
    count = len(message.chunks)
    if count > MAX_CHUNKS:
        raise UnreadableError(f"is longer than {MAX_CHUNKS} chunks: split it")
    size = message.ByteSize() + count * (4 * dimension + _CHUNK_OVERHEAD)
    if size > max_size:
        raise UnreadableError(f"needs a message over {max_size // 2**20} MiB: split it")
    return Prepared(message, size)


def _chunks(document: ParsedDocument, space: str) -> list[documents_pb2.ChunkInput]:
    seen: Counter[str] = Counter()
    return [
        _chunk(document, space, start, end, seen)
        for start, end in split(document.text, document.body_start)
    ]


def _chunk(
    document: ParsedDocument, space: str, start: int, end: int, seen: Counter[str]
) -> documents_pb2.ChunkInput:
    content = document.text[start:end]
    digest = content_sha256(content)
    made = chunk_id(space, document.document_id, digest, seen[digest])
    seen[digest] += 1
    return documents_pb2.ChunkInput(id=made, content=content, start_char=start, end_char=end)


def _struct(metadata: Metadata) -> Struct | None:
    if not metadata:
        return None
    struct = Struct()
    try:
        struct.update(metadata)
    except (OverflowError, ValueError):
        raise UnreadableError("metadata holds a number that is out of range") from None
    return struct
