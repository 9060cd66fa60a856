"""Builders of the contracts' messages for documents: an upload for the orchestrator, chunks for the vector tier."""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from itertools import chain
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError

from braid.agent.v1 import ingest_pb2
from braid.vector.v1 import documents_pb2
from braid_client.requests import timestamp
from braid_protocol.ids import chunk_id, content_sha256, document_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from google.protobuf.struct_pb2 import Struct

PART_BYTES = 512 * 1024
_TOO_DEEP = "metadata has too many levels of values within values"


def document_parts(
    data: bytes | str,
    *,
    content_type: str,
    document_id: str = "",
    title: str = "",
    source: str = "",
    metadata: Mapping[str, Any] | None = None,
    valid_time: datetime | None = None,
    expire_time: datetime | None = None,
) -> Iterator[ingest_pb2.IngestDocumentRequest]:
    """Returns an upload as the stream that the contract requires: its metadata, then its bytes.

    Raises TypeError or ValueError for invalid arguments here instead of in the stream, because gRPC reports an error in
    a stream of requests as a cancelled call without a cause.
    """
    described = ingest_pb2.DocumentMetadata(
        document_id=document_id,
        title=title,
        source=source,
        content_type=content_type,
        valid_time=timestamp(valid_time),
        expire_time=timestamp(expire_time),
    )
    first = _first_part(described, dict(metadata or {}))
    return chain((first,), _data_parts(_content(data)))


def _first_part(
    described: ingest_pb2.DocumentMetadata, metadata: dict[str, Any]
) -> ingest_pb2.IngestDocumentRequest:
    try:
        _fill(described.metadata, metadata)
        return ingest_pb2.IngestDocumentRequest(metadata=described)
    except (DecodeError, RecursionError):  # the copy is parsed, with a nesting limit
        raise ValueError(_TOO_DEEP) from None


def _content(data: bytes | str) -> bytes:
    content: object = data.encode() if isinstance(data, str) else data
    if not isinstance(content, bytes):
        raise TypeError(f"data must be bytes or str, not {type(data).__name__}")
    return content


def _data_parts(content: bytes) -> Iterator[ingest_pb2.IngestDocumentRequest]:
    for start in range(0, len(content), PART_BYTES):
        yield ingest_pb2.IngestDocumentRequest(data=content[start : start + PART_BYTES])


def _fill(struct: Struct, metadata: dict[str, Any]) -> None:
    for name, value in metadata.items():
        if not isinstance(name, str):
            raise TypeError(f"names in metadata must be str, not {type(name).__name__}")
        try:
            struct.update({name: value})
            MessageToDict(struct.fields[name])  # refuses NaN and infinity
        except TypeError:
            raise TypeError(f"metadata[{name!r}]: names in it must be str") from None
        except (ValueError, OverflowError):
            raise ValueError(f"metadata[{name!r}] must be a value of JSON") from None


def document_input(
    document_id: str,
    texts: Sequence[str],
    *,
    space: str,
    embeddings: Sequence[Sequence[float]] | None = None,
    title: str = "",
    source: str = "",
    metadata: Mapping[str, Any] | None = None,
    valid_time: datetime | None = None,
) -> documents_pb2.DocumentInput:
    """Builds a document from the caller's own chunks, with the ids and the hash that Braid would assign.

    `space` is the space of the key, or the client's `space` (`local` without keys): ids are derived from it.
    `embeddings` has a vector for each text, of the model given to `upsert_document`; without it the tier embeds.
    Character positions refer to the texts joined with line feeds. The hash is computed from that text: if only the
    split at line feeds differs, the document is unchanged for the tier and keeps its former split. Raises TypeError and
    ValueError as `ingest_document` does, and ValueError if the numbers of vectors and texts differ.
    """
    if isinstance(texts, str):
        raise TypeError("texts must be a sequence of str, not one str")
    made = documents_pb2.DocumentInput(
        document_id=document_id, title=title, source=source, valid_time=timestamp(valid_time)
    )
    _describe(made, dict(metadata or {}))
    # Computed from the message, where equal values and times have the same form.
    since = made.valid_time.ToDatetime(tzinfo=UTC).isoformat() if valid_time else None
    made.content_hash = document_hash(
        title=title,
        source=source,
        metadata=MessageToDict(made.metadata),
        valid_time=since,
        text="\n".join(texts),
    )
    seen, start = Counter[str](), 0
    for text, vector in zip(
        texts, [()] * len(texts) if embeddings is None else embeddings, strict=True
    ):
        hashed = content_sha256(text)
        made.chunks.add(
            id=chunk_id(space, document_id, hashed, seen[hashed]),
            content=text,
            start_char=start,
            end_char=start + len(text),
            embedding=vector,
        )
        seen[hashed] += 1
        start += len(text) + 1
    return made


def _describe(document: documents_pb2.DocumentInput, metadata: dict[str, Any]) -> None:
    try:
        _fill(document.metadata, metadata)
        documents_pb2.UpsertDocumentRequest(document=document)
    except (DecodeError, RecursionError):  # as above: cannot be copied or sent
        raise ValueError(_TOO_DEEP) from None
