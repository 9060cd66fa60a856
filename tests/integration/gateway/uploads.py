"""Uploads of documents: their path, the service's response, and what the service received."""

from __future__ import annotations

from typing import Any

from braid.agent.v1 import ingest_pb2
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import JOB

DOCUMENTS = "/api/documents"
ACCEPTED = ingest_pb2.IngestDocumentResponse(job=JOB)


def uploaded(served: Served, call: int = 0) -> tuple[Any, bytes]:
    """Returns the metadata and the bytes of an upload as the service received them."""
    first, *rest = served.script.of("IngestDocument")[call].messages
    return first.metadata, b"".join(part.data for part in rest)
