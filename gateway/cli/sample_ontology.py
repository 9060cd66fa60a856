"""The sample's ontology: which of its relations are events. Put straight to the graph tier of the local stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc

from braid.graph.v1 import ingest_pb2_grpc, ontology_pb2
from gateway.cli.errors import CliError
from services.runtime.channels import open_channel

if TYPE_CHECKING:
    from gateway.cli.sample import Sample

_SECONDS = 10.0


async def put_sample_ontology(target: str, sample: Sample) -> None:
    """Puts it into a space that has no ontology. CliError when the tier refuses or is away."""
    async with open_channel(target) as channel:
        stub = ingest_pb2_grpc.GraphIngestServiceStub(channel)
        try:
            await put_if_absent(stub, sample.ontology())
        except grpc.aio.AioRpcError as error:
            raise CliError(f"the sample's ontology: {error.details()}") from None


async def put_if_absent(
    stub: ingest_pb2_grpc.GraphIngestServiceStub,
    ontology: ontology_pb2.Ontology,
    metadata: tuple[tuple[str, str], ...] = (),
) -> None:
    """Puts an ontology unless there is one: somebody's own stays."""
    asked = ontology_pb2.GetOntologyRequest()
    held = await stub.GetOntology(asked, timeout=_SECONDS, metadata=metadata)
    if held.version == 0:
        put = ontology_pb2.PutOntologyRequest(ontology=ontology, expected_version=0)
        await stub.PutOntology(put, timeout=_SECONDS, metadata=metadata)
