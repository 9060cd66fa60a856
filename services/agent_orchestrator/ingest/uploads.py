"""Reads an upload's stream: metadata first, then bytes, within limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from hashlib import sha256
from typing import Any

from google.protobuf.json_format import Error as JsonError
from google.protobuf.json_format import MessageToDict

from braid.agent.v1 import ingest_pb2
from services.agent_orchestrator.ingest.backlog import Place as BacklogPlace
from services.agent_orchestrator.ingest.documents import Place, UnreadableError, check_values
from services.agent_orchestrator.ingest.formats.parsing import Upload, count_documents
from services.agent_orchestrator.jobs.records import UPLOAD, NewJob
from services.agent_orchestrator.jobs.work_store import TakenUpload
from services.runtime.context import CallContext
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.times import to_datetime, utc_now

Parts = AsyncIterator[ingest_pb2.IngestDocumentRequest]


def upload_arguments(upload: Upload) -> dict[str, Any]:
    """Returns an upload without its bytes, as JSON values."""
    arguments = {
        "content_type": upload.content_type,
        "document_id": upload.document_id,
        "title": upload.title,
        "source": upload.source,
        "metadata": upload.metadata,
        "valid_time": upload.valid_time.isoformat() if upload.valid_time else None,
    }
    if upload.expire_time:
        arguments["expire_time"] = upload.expire_time.isoformat()
    return arguments


def new_upload(call: CallContext, upload: Upload, count: int) -> NewJob:
    """Returns the job of an upload of `count` documents."""
    return NewJob(
        space=call.space,
        user=call.user,
        request_id=call.request_id,
        kind=UPLOAD,
        arguments=upload_arguments(upload),
        input_hash=input_hash(upload),
        documents_total=count,
        data=upload.data,
    )


def stored_upload(taken: TakenUpload) -> Upload:
    """Returns the upload that a job was accepted with."""
    arguments = taken.job.arguments
    since = arguments["valid_time"]
    return Upload(
        content_type=arguments["content_type"],
        data=taken.data,
        document_id=arguments["document_id"],
        title=arguments["title"],
        source=arguments["source"],
        metadata=arguments["metadata"],
        valid_time=datetime.fromisoformat(since) if since else None,
        begin=Place(taken.offset, taken.line),
        done=0 if taken.offset else taken.position,
    )


def input_hash(upload: Upload) -> str:
    """Returns the SHA-256 of everything that defines the upload, as 64 hexadecimal digits."""
    arguments = json.dumps(upload_arguments(upload), sort_keys=True, ensure_ascii=False)
    digest = sha256(arguments.encode())
    digest.update(upload.data)
    return digest.hexdigest()


async def receive(parts: Parts, place: BacklogPlace, *, max_bytes: int) -> tuple[Upload, int]:
    """Returns the whole upload and its number of documents; its bytes are reserved in `place`.

    Raises InvalidFieldError for parts out of order, an empty or too large upload, or a single document without text.
    """
    metadata = await _metadata(parts)
    pieces: list[bytes] = []
    size = 0
    async for part in parts:
        if part.WhichOneof("part") != "data":
            raise InvalidFieldError(FieldError("metadata", "must be sent once, before the data"))
        pieces.append(part.data)
        size += len(pieces[-1])
        if size > max_bytes:
            raise InvalidFieldError(FieldError("data", f"must be at most {max_bytes} bytes in all"))
        place.hold(len(pieces[-1]))
    # In a thread, so that joining long uploads does not block other calls.
    upload = _upload(metadata, await asyncio.to_thread(b"".join, pieces))
    return upload, await _count(upload)


async def _metadata(parts: Parts) -> ingest_pb2.DocumentMetadata:
    first = await anext(parts, None)
    if first is None or first.WhichOneof("part") != "metadata":
        raise InvalidFieldError(FieldError("metadata", "must be sent first"))
    return first.metadata


def _upload(metadata: ingest_pb2.DocumentMetadata, data: bytes) -> Upload:
    try:
        values = MessageToDict(metadata.metadata)
        check_values(metadata.document_id, metadata.title, metadata.source, values)
    except (JsonError, ValueError):  # the library has no error class for infinite numbers
        raise InvalidFieldError(FieldError("metadata.metadata", "is no JSON object")) from None
    except UnreadableError as error:
        raise InvalidFieldError(FieldError("metadata", str(error))) from None
    valid_time = metadata.HasField("valid_time")
    expire_time = to_datetime(metadata.expire_time) if metadata.HasField("expire_time") else None
    if expire_time and expire_time <= utc_now():
        raise InvalidFieldError(FieldError("metadata.expire_time", "must lie in the future"))
    return Upload(
        content_type=metadata.content_type,
        data=data,
        document_id=metadata.document_id,
        title=metadata.title,
        source=metadata.source,
        metadata=values,
        valid_time=to_datetime(metadata.valid_time) if valid_time else None,
        expire_time=expire_time,
    )


async def _count(upload: Upload) -> int:
    try:
        count = await asyncio.to_thread(count_documents, upload)
    except UnreadableError as error:
        raise InvalidFieldError(FieldError("data", str(error))) from None
    if count == 0:
        raise InvalidFieldError(FieldError("data", "holds no document"))
    return count
