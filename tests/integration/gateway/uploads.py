"""Uploads of documents: where they go, what answers them, and what the service saw of one."""

from __future__ import annotations

from typing import Any

from braid.agent.v1 import ingest_pb2
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import JOB

DOCUMENTS = "/api/documents"
ACCEPTED = ingest_pb2.IngestDocumentResponse(job=JOB)


def uploaded(served: Served, call: int = 0) -> tuple[Any, bytes]:
    """The metadata and the bytes of an upload as the service saw them."""
    first, *rest = served.script.seen[call].messages
    return first.metadata, b"".join(part.data for part in rest)
