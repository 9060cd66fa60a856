"""`/api/documents`: uploads, listing, reading, deleting."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from braid.agent.v1 import ingest_pb2, jobs_pb2
from braid.vector.v1 import documents_pb2
from gateway.clients import Clients
from gateway.rest import jobs
from gateway.rest.documents.fact_lines import FactLines, find_facts, without_facts
from gateway.rest.documents.replaced_files import (
    OtherFileError,
    note_fingerprint,
    refuse_other_file,
)
from gateway.rest.documents.upload_responses import (
    Accepted,
    FactsAccepted,
    FactsOfFiles,
    MissingFact,
    PartlyAccepted,
    RefusedLine,
)
from gateway.rest.documents.uploads import (
    DocumentBody,
    UploadFields,
    from_file,
    read_document,
    read_form,
)
from gateway.rest.facts.parameters import ReplaceStated
from gateway.rest.facts.requests import Stated, messages
from gateway.rest.http.calls import Caller, CallerDep, ClientsDep, SettingsDep, UploaderDep
from gateway.rest.http.errors import headers_of, problems_of
from gateway.rest.http.middleware import content_length, drain_body
from gateway.rest.http.request_parsing import any_text, is_json, media_type, parse_in_thread, whole
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import PageSize
from gateway.rest.mapping.json_encoding import JsonResponse
from gateway.rest.mapping.message_json import respond, to_json
from gateway.rest.mapping.message_schema import shown
from gateway.rest.mapping.openapi import problems
from services.runtime.errors import BraidError, FieldError, InvalidFieldError, WrongStateError

router = APIRouter(
    route_class=ScopedRoute, prefix="/api/documents", tags=["documents"], responses=problems()
)

MAX_FILES = 1000
JSON_LINES = "application/jsonl"
_GOES_ON = frozenset({jobs_pb2.JOB_STATE_QUEUED, jobs_pb2.JOB_STATE_RUNNING})
_INGEST = "/braid.agent.v1.IngestService/"
_DOCUMENTS = "/braid.vector.v1.DocumentService/"
_FORM = UploadFields.model_json_schema()
_FORM["properties"] |= {
    "files": {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_FILES,
        "items": {"type": "string", "format": "binary"},
    },
    "metadata": {
        "type": "string",
        "contentMediaType": "application/json",
        "description": _FORM["properties"]["metadata"]["description"],
    },
}
_BODY = {
    "required": True,
    "content": {
        "application/json": {"schema": DocumentBody.model_json_schema()},
        "multipart/form-data": {"schema": _FORM | {"required": ["files"]}},
    },
}
_id_named = partial(rest_name, names={"document_id": "id"})


@dataclass(slots=True)
class _AcceptedUpload:
    """The jobs of an upload, the reasons of refused files, and the error that ended it early, if any."""

    jobs: list[jobs_pb2.Job] = field(default_factory=list)
    facts: FactsOfFiles | None = None
    refused: list[FieldError] = field(default_factory=list)
    ended_by: BraidError | None = None

    def add_facts(
        self, answer: ingest_pb2.IngestFactsResponse, file: int, lines: FactLines
    ) -> None:
        """Adds the outcome for a file's facts."""
        total = self.facts or FactsOfFiles(
            added=0,
            unchanged=0,
            refused=[],
            refused_total=0,
            missing=[],
            missing_total=0,
            withdrawn=0,
        )
        total.missing_total += answer.missing_count
        total.withdrawn += answer.withdrawn_count
        total.missing += (MissingFact(file=file, fact=to_json(one)) for one in answer.missing)
        total.added += answer.added_count
        total.unchanged += answer.unchanged_count
        total.refused_total += answer.refused_count
        total.refused += (
            RefusedLine(file=file, line=lines.numbers[one.index], reason=one.reason)
            for one in answer.refused
        )
        self.facts = total

    @property
    def is_empty(self) -> bool:
        """Whether nothing was accepted."""
        return not self.jobs and self.facts is None


@dataclass(frozen=True, slots=True)
class _FactOptions:
    """The maximum size of a file's facts in bytes, and whether those that it no longer states are withdrawn."""

    max_bytes: int
    replace: bool


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a form, and how its facts are taken."""

    index: int
    file: UploadFile
    metadata: ingest_pb2.DocumentMetadata
    facts: _FactOptions

    @property
    def fact_source(self) -> str:
        """Returns what states the file's facts: the id given to it, or else where it came from."""
        return self.metadata.document_id or self.metadata.source


KeepVersions = Annotated[
    bool,
    Query(
        description="Keeps its versions for queries as of earlier times: the document ends now, and what is uploaded "
        "under its id later continues it."
    ),
]
DocumentId = Annotated[
    str,
    Bounds(documents_pb2.GetDocumentRequest, "document_id"),
    Path(description="The document's id; slashes are part of it."),
]
Limit = Annotated[
    PageSize,
    Bounds(documents_pb2.ListDocumentsRequest, "page_size"),
    Query(description="How many, up to 200; more counts as 200. Default, and 0: 50."),
]


@router.post(
    "",
    status_code=202,
    response_model=Accepted,
    responses={
        200: {
            "model": FactsAccepted,
            "description": "The files held facts alone: they are in the graph.",
        },
        207: {"model": PartlyAccepted, "description": "Some of the files were refused."},
    },
    openapi_extra={"requestBody": _BODY},
)
async def upload_documents(
    request: Request,
    caller: UploaderDep,
    clients: ClientsDep,
    settings: SettingsDep,
    replace: ReplaceStated = False,
) -> Response:
    """Takes a document as JSON, or files of all supported types as a form.

    Answers with a job a file at once. Facts among JSON lines are taken as by `POST /api/facts` and counted in `facts`:
    a file with a wrong one is refused.

    A file whose name stands for another file's document is refused with status 409 unless `replace` is true, which
    makes it the document's next version; so does a form's `id`, which is meant.

    Of several files the good ones are taken: the answer's status is 207 when others
    are refused, and `refused` names them.

    When the time is over, or a service at its limit, after some of the files were taken, `refused` names each other one
    with that reason; sending all of them again changes nothing. `Retry-After` says when, where waiting helps.
    """
    caller.require(_INGEST + "IngestDocument")
    await _check_capacity(request, caller, clients, settings.max_document_bytes)
    kind = media_type(request)
    if kind == "multipart/form-data":
        limits = _FactOptions(settings.max_body_bytes, replace)
        taken = await _take_files(request, caller, clients, limits)
        return _accepted(taken)
    if not is_json(kind):
        description = "must be application/json or multipart/form-data"
        raise InvalidFieldError(FieldError("Content-Type", description))
    read = partial(read_document, max_bytes=settings.max_body_bytes)
    document = await parse_in_thread(read, await whole(request))
    return _accepted(_AcceptedUpload([await _take(caller, clients, document.parts(), "")]))


@router.delete(
    "/" + any_text("document_id"),
    responses=shown(ingest_pb2.DeleteDocumentResponse)
    | shown(ingest_pb2.DeleteDocumentResponse, 202, "The job goes on."),
)
async def delete_document(
    document_id: DocumentId,
    caller: CallerDep,
    clients: ClientsDep,
    keep_versions: KeepVersions = False,
) -> Response:
    """Removes a document from both stores, or ends it. Answers with what was removed from each; when that takes longer
    than the caller waits, with status 202 and the job, which goes on whatever happens.
    """
    request = ingest_pb2.DeleteDocumentRequest(document_id=document_id, keep_versions=keep_versions)
    method = _INGEST + "DeleteDocument"
    answer = await caller.call(method, clients.ingest.DeleteDocument, request, _id_named)
    if answer.job.state == jobs_pb2.JOB_STATE_FAILED:
        reasons = "; ".join(failure.reason for failure in answer.job.failures)
        raise WrongStateError(f"The deletion failed: {reasons}")
    done = answer.job.state not in _GOES_ON
    return respond(answer, 200 if done else 202, jobs.location(answer.job))


async def _check_capacity(
    request: Request, caller: Caller, clients: Clients, max_bytes: int
) -> None:
    """Refuses an upload before its body is read if the backlog is full."""
    size = content_length(request.headers)
    if size > max_bytes:
        return  # reading the body refuses it; a retry would not help
    message = ingest_pb2.CheckIngestCapacityRequest(size=size)
    method = _INGEST + "CheckIngestCapacity"
    try:
        await caller.call_before_body(method, clients.ingest.CheckIngestCapacity, message)
    except BraidError:
        await drain_body(request.receive)
        raise


async def _take_files(
    request: Request, caller: Caller, clients: Clients, facts: _FactOptions
) -> _AcceptedUpload:
    """Accepts the files. Raises if none was accepted: InvalidFieldError if all files are invalid."""
    taken = _AcceptedUpload()
    async with request.form(max_files=MAX_FILES, max_fields=len(_FORM["properties"])) as form:
        fields, files = read_form(form)
        until = monotonic() + caller.timeout
        others: OtherFileError | None = None
        for index, file in enumerate(files):
            one = _File(index, file, fields.of(file), facts)
            try:
                await _take_file(caller.until(until), clients, one, taken)
            except OtherFileError as error:
                taken.refused.append(error.problem)
                others = others or error
                continue
            except BraidError as error:
                if error.fields:
                    taken.refused += error.fields
                    continue
                if taken.is_empty:
                    raise
                # The other files would fail as well, and the accepted jobs must be returned.
                taken.refused += (
                    FieldError(f"files[{n}]", error.message) for n in range(index, len(files))
                )
                taken.ended_by = error
                break
    if taken.is_empty:
        raise others or InvalidFieldError(*taken.refused)
    return taken


async def _take_file(caller: Caller, clients: Clients, one: _File, taken: _AcceptedUpload) -> None:
    """Accepts a file: facts first, so that an invalid fact refuses the whole file."""
    place = f"files[{one.index}]"
    is_lines = one.metadata.content_type == JSON_LINES
    if not is_lines:
        await note_fingerprint(one.metadata, one.file)
        if not (one.facts.replace or one.metadata.document_id):
            await refuse_other_file(caller, clients, one.metadata, place)
    parts = from_file(one.metadata, one.file)
    if is_lines:
        lines = await find_facts(one.file.file, place, one.facts.max_bytes)
        if lines.facts or one.facts.replace:
            stated = Stated(one.fact_source, one.facts.replace and bool(one.fact_source))
            answer = await caller.call(
                _INGEST + "IngestFacts",
                clients.ingest.IngestFacts,
                messages(lines.facts, stated),
                lines.named(place),
            )
            taken.add_facts(answer, one.index, lines)
            if not lines.has_documents:
                return
            parts = without_facts(one.metadata, one.file.file)
    taken.jobs.append(await _take(caller, clients, parts, f"{place}."))


async def _take(caller: Caller, clients: Clients, parts: Any, place: str) -> jobs_pb2.Job:
    def named(path: str) -> str:
        if path == "data":
            return place.rstrip(".") or "text"
        return place + _id_named(path.removeprefix("metadata."))

    method = _INGEST + "IngestDocument"
    answer = await caller.call(method, clients.ingest.IngestDocument, parts, named)
    job: jobs_pb2.Job = answer.job
    return job


def _accepted(taken: _AcceptedUpload) -> Response:
    accepted = [to_json(job) for job in taken.jobs]
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    if accepted:
        headers |= jobs.location(taken.jobs[0])
        body |= {"job": accepted[0], "jobs": accepted}
    if taken.facts:
        body["facts"] = taken.facts.model_dump()
    if not taken.refused:
        return JsonResponse(body, 202 if accepted else 200, headers)
    if taken.ended_by:
        headers |= headers_of(taken.ended_by)
    return JsonResponse(body | {"refused": problems_of(taken.refused)}, 207, headers)
