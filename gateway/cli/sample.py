"""The sample of the local stack: notes, facts and the ontology of an invented company, and questions about them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
from google.protobuf import json_format

from braid.graph.v1 import ingest_pb2_grpc, ontology_pb2, query_pb2_grpc
from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File
from gateway.content_types import CONTENT_TYPES
from services.runtime.channels import open_channel

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the day to which it refers; None for today."""

    text: str
    as_of: str | None


class Sample:
    """The sample in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of_the_stack(cls) -> Sample:
        """Returns the sample of the local stack."""
        import deploy.local  # noqa: PLC0415 - an image of the gateway does not carry it

        return cls(Path(deploy.local.__file__).parent / "sample")

    def sources(self) -> Iterator[File]:
        """Returns its notes, each with its file name as id, which the facts cite, and its facts."""
        for path in sorted(self._folder.glob("*.md")):
            yield File(path, path.name, CONTENT_TYPES[".md"])
        yield File(self._folder / "facts.jsonl", "facts.jsonl", CONTENT_TYPES[".jsonl"])

    def ontology(self) -> ontology_pb2.Ontology:
        """Returns its ontology, which marks relations as events."""
        text = (self._folder / "ontology.json").read_text(encoding="utf-8")
        return json_format.Parse(text, ontology_pb2.Ontology())

    def question(self) -> Question:
        """Returns the first of its questions."""
        with (self._folder / "questions.jsonl").open(encoding="utf-8") as lines:
            first = json.loads(next(lines))
        return Question(first["question"], first["as_of"])


# The first call after a start waits until Neo4j has planned its queries: a few seconds, on a slow machine minutes.
_SECONDS = 300.0


async def put_sample_ontology(target: str, sample: Sample) -> None:
    """Stores the sample's ontology in a space without one. Raises CliError if the tier refuses or is unavailable."""
    async with open_channel(target) as channel:
        try:
            await put_if_absent(
                query_pb2_grpc.GraphQueryServiceStub(channel),
                ingest_pb2_grpc.GraphIngestServiceStub(channel),
                sample.ontology(),
            )
        except grpc.aio.AioRpcError as error:
            raise CliError(f"the sample's ontology: {error.details()}") from None


async def put_if_absent(
    reads: query_pb2_grpc.GraphQueryServiceStub,
    writes: ingest_pb2_grpc.GraphIngestServiceStub,
    ontology: ontology_pb2.Ontology,
    metadata: tuple[tuple[str, str], ...] = (),
) -> None:
    """Stores an ontology unless the space has one already."""
    asked = ontology_pb2.GetOntologyRequest()
    stored = await reads.GetOntology(asked, timeout=_SECONDS, metadata=metadata)
    if stored.version == 0:
        put = ontology_pb2.PutOntologyRequest(ontology=ontology, expected_version=0)
        await writes.PutOntology(put, timeout=_SECONDS, metadata=metadata)
