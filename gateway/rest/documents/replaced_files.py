"""A file does not take the place of another one of the same name unless the caller says so."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

from starlette.datastructures import UploadFile

from braid.agent.v1.ingest_pb2 import DocumentMetadata
from braid.vector.v1 import documents_pb2
from gateway.clients import Clients
from gateway.file_fingerprints import FINGERPRINT
from gateway.rest.http.calls import Caller
from services.runtime.errors import BraidError, FieldError, WrongStateError

_GET = "/braid.vector.v1.DocumentService/GetDocument"


class OtherFileError(WrongStateError):
    """A document of this name was read from another file. `problem` names the file in the form."""

    def __init__(self, place: str, document_id: str) -> None:
        self.problem = FieldError(
            place,
            f"another file was uploaded as {document_id}: replace=true makes this one its next version",
        )
        super().__init__(self.problem.description)


async def note_fingerprint(metadata: DocumentMetadata, file: UploadFile) -> None:
    """Adds the SHA-256 of the file to its document's metadata, unless the caller has given one."""
    if FINGERPRINT not in metadata.metadata:
        metadata.metadata[FINGERPRINT] = await asyncio.to_thread(_sha256, file.file)


async def refuse_other_file(
    caller: Caller, clients: Clients, metadata: DocumentMetadata, place: str
) -> None:
    """Raises OtherFileError if the file's name stands for a document of another file.

    Without the right to read, a caller does not learn which documents exist: the file is taken.
    """
    request = documents_pb2.GetDocumentRequest(document_id=metadata.source)
    try:
        answer = await caller.call(_GET, clients.documents.GetDocument, request)
    except BraidError:
        # Not found, or not to be known now: the upload is taken, as an earlier version is never lost.
        return
    stored = answer.document.metadata
    if FINGERPRINT not in stored or stored[FINGERPRINT] != metadata.metadata[FINGERPRINT]:
        raise OtherFileError(place, metadata.source)


def _sha256(file: Any) -> str:
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return digest
