"""Prepares documents for both tiers: hashes them and splits them into chunks with ids, without vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.v1 import ingest_pb2
from braid.vector.v1 import documents_pb2
from services.agent_orchestrator.ingest.chunking import split
from services.agent_orchestrator.ingest.document_warnings import DocumentWarning
from services.agent_orchestrator.ingest.documents import (
    Metadata,
    ParsedDocument,
    Piece,
    UnreadableError,
)
from services.runtime.ids import chunk_id, content_sha256, document_hash
from services.runtime.times import to_timestamp

MAX_CHUNKS = 10_000
# Bytes of a chunk in a message besides its text and vector: ids, spans, lengths.
_CHUNK_OVERHEAD = 100


@dataclass(eq=False, slots=True)
class Prepared:
    """A document in progress: its message for the vector tier, and further data for both tiers."""

    input: documents_pb2.DocumentInput
    size: int
    # The time when each chunk's content was written, if the document has no single time: it is valid from then on.
    times: tuple[Timestamp | None, ...] = ()
    # What was not taken of it, or not as written.
    warnings: tuple[DocumentWarning, ...] = ()
    unchanged: bool = False
    # The time from which the stored version is valid.
    version_time: Timestamp | None = None
    chunks_added: int = 0
    stored_chunks: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """The document's id."""
        return self.input.document_id

    def unembedded(self) -> Iterator[documents_pb2.ChunkInput]:
        """Yields the chunks for which the vector tier has no vector yet."""
        return (chunk for chunk in self.input.chunks if chunk.id not in self.stored_chunks)

    def embedded_text(self, chunk: documents_pb2.ChunkInput) -> str:
        """Returns the text from which a chunk's vector is computed."""
        return f"{self.input.title}\n{chunk.content}"

    def episodes(self, accepted: Timestamp) -> list[ingest_pb2.EpisodeInput]:
        """Returns all its chunks as episodes; without its own valid time, a text is valid from `accepted`."""
        known = self.input.valid_time if self.input.HasField("valid_time") else accepted
        return [
            ingest_pb2.EpisodeInput(
                chunk_id=chunk.id,
                document_id=self.input.document_id,
                document_title=self.input.title,
                source=self.input.source,
                content=chunk.content,
                reference_time=time or known,
                version_time=self.version_time,
                valid_time=time,
            )
            for chunk, time in zip(self.input.chunks, self._times(), strict=True)
        ]

    def _times(self) -> tuple[Timestamp | None, ...]:
        return self.times or (None,) * len(self.input.chunks)


def prepare(document: ParsedDocument, space: str, *, dimension: int, max_size: int) -> Prepared:
    """Prepares a document for the vector tier. Raises UnreadableError if it is too large for one message."""
    valid_time = to_timestamp(document.valid_time) if document.valid_time else None
    pieces, seen = _pieces(document), Counter[str]()
    if len(pieces) > MAX_CHUNKS:
        raise UnreadableError(f"is longer than {MAX_CHUNKS} chunks: split it")
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
        chunks=[_chunk(document, space, piece, seen) for piece in pieces],
    )
    size = message.ByteSize() + len(pieces) * (4 * dimension + _CHUNK_OVERHEAD)
    if size > max_size:
        raise UnreadableError(f"needs a message over {max_size // 2**20} MiB: split it")
    times = tuple(to_timestamp(piece.time) if piece.time else None for piece in pieces)
    return Prepared(message, size, times if any(times) else (), document.warnings)


def _pieces(document: ParsedDocument) -> Sequence[Piece]:
    if document.pieces:
        return document.pieces
    return [Piece(*span) for span in split(document.text, document.body_start)]


def _chunk(
    document: ParsedDocument, space: str, piece: Piece, seen: Counter[str]
) -> documents_pb2.ChunkInput:
    content = document.text[piece.start : piece.end]
    digest = content_sha256(content)
    made = chunk_id(space, document.document_id, digest, seen[digest])
    seen[digest] += 1
    return documents_pb2.ChunkInput(
        id=made,
        content=content,
        start_char=piece.start,
        end_char=piece.end,
        page=piece.page,
        valid_time=to_timestamp(piece.time) if piece.time else None,
    )


def _struct(metadata: Metadata) -> Struct | None:
    if not metadata:
        return None
    struct = Struct()
    try:
        struct.update(metadata)
    except (OverflowError, ValueError):
        raise UnreadableError("metadata holds a number that is out of range") from None
    return struct
