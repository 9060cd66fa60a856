"""Uploads of documents: conversion of a form or a JSON body to a stream of messages."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from google.protobuf.message import Message
from pydantic import Field, TypeAdapter, ValidationError
from starlette.datastructures import UploadFile

from braid.agent.v1.ingest_pb2 import DocumentMetadata, IngestDocumentRequest
from gateway.content_types import content_type_of
from gateway.rest.documents.long_text import PIECE_BYTES, Bounds, take_text
from gateway.rest.mapping.contract_rules import ContractModel
from gateway.rest.mapping.field_types import (
    MAX_VALUES,
    Instant,
    JsonObject,
    Text,
    stamp,
    to_struct,
)
from gateway.rest.mapping.validation_errors import invalid
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.metadata_limits import MAX_METADATA_DEPTH, MAX_METADATA_TEXT_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from starlette.datastructures import FormData


_JSON_OBJECT: TypeAdapter[dict[str, Any]] = TypeAdapter(JsonObject)
_NAMES = MappingProxyType({"id": "document_id"})
_METADATA = (
    f"A JSON object of at most {MAX_VALUES:,} keys and values, {MAX_METADATA_TEXT_BYTES // 1024} KiB of "
    f"names and texts, and {MAX_METADATA_DEPTH} levels of values within values."
)
_EXPIRES = "When it is deleted automatically, with all versions. Default: never."
_ALSO_CALLED = {
    "application/x-ndjson": "application/jsonl",
    "application/jsonlines": "application/jsonl",
    "text/x-markdown": "text/markdown",
    "application/xhtml+xml": "text/html",
    "text/rtf": "application/rtf",
}


class DocumentBody(ContractModel):
    """One document as JSON."""

    contract: ClassVar[type[Message]] = DocumentMetadata
    names: ClassVar[Mapping[str, str]] = _NAMES

    id: Text = Field(default="", description="Default: `source`, else made from the content.")
    title: Text = Field(default="", description="Default: the first heading, else from `source`.")
    text: Text
    source: Text = Field(default="", description="Where it came from.")
    content_type: Text = Field(default="text/plain", description="Or text/markdown, text/html.")
    metadata: JsonObject | None = Field(default=None, description=_METADATA)
    valid_at: Instant | None = Field(default=None, description="Since when it holds. Default: now.")
    expires_at: Instant | None = Field(default=None, description=_EXPIRES)

    def described(self) -> DocumentMetadata:
        """Returns the document's metadata."""
        return DocumentMetadata(
            document_id=self.id,
            title=self.title,
            source=self.source,
            content_type=self.content_type,
            metadata=to_struct(self.metadata),
            valid_time=stamp(self.valid_at),
            expire_time=stamp(self.expires_at),
        )


class UploadFields(ContractModel):
    """The fields that a form may hold beside its files; `id`, `title` and `source` for a single file only."""

    contract: ClassVar[type[Message]] = DocumentMetadata
    names: ClassVar[Mapping[str, str]] = _NAMES

    id: Text = ""
    title: Text = ""
    source: Text = Field(default="", description="Default: the file's name.")
    content_type: Text = Field(default="", description="Default: by the file's name.")
    metadata: JsonObject | None = Field(default=None, description=_METADATA)
    valid_at: Instant | None = None
    expires_at: Instant | None = Field(default=None, description=_EXPIRES)

    def of(self, file: UploadFile) -> DocumentMetadata:
        """Returns the metadata of the upload of `file`."""
        return DocumentMetadata(
            document_id=self.id,
            title=self.title,
            source=self.source or file.filename or "",
            content_type=self.content_type or _content_type(file),
            metadata=to_struct(self.metadata),
            valid_time=stamp(self.valid_at),
            expire_time=stamp(self.expires_at),
        )


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a JSON body: its metadata, and its text in pieces of UTF-8."""

    metadata: DocumentMetadata
    text: Sequence[bytes]

    async def parts(self) -> AsyncIterator[IngestDocumentRequest]:
        """Yields the document as the contract's stream."""
        yield IngestDocumentRequest(metadata=self.metadata)
        for data in self.text:
            yield IngestDocumentRequest(data=data)


def read_document(body: bytearray, *, max_bytes: int) -> Document:
    """Returns the document of a JSON body. Raises InvalidFieldError with all invalid fields.

    If the text has several pieces, the rest may have at most `most` bytes, because it is sent in one message.
    """
    if len(body) <= PIECE_BYTES:
        document = _checked(body)
        return Document(document.described(), [document.text.encode()])
    values = MAX_VALUES + len(DocumentBody.model_fields)
    rest, text = take_text(body, "text", Bounds(size=max_bytes, values=values))
    document = _checked(rest, whole=text is None)
    return Document(document.described(), [document.text.encode()] if text is None else text)


def _checked(body: bytes | bytearray, *, whole: bool = True) -> DocumentBody:
    try:
        return DocumentBody.model_validate_json(body)
    except ValidationError as error:
        problems = error.errors(include_input=False)
    if not whole and problems[0]["type"] == "json_invalid":
        # The message contains a position, which differs in the whole body.
        problems[0]["ctx"]["error"] = problems[0]["ctx"]["error"].partition(" at line ")[0]
    raise invalid(problems)


def read_form(form: FormData) -> tuple[UploadFields, list[UploadFile]]:
    """Returns a form's fields and files. Raises InvalidFieldError if there is no file or a field is invalid."""
    files = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
    if not files:
        raise InvalidFieldError(FieldError("files", "at least one file is needed"))
    texts = {name: value for name, value in form.items() if isinstance(value, str)}
    fields = _fields(texts)
    if len(files) > 1 and (fields.id or fields.title or fields.source):
        description = "id, title and source are of one document, not of several"
        raise InvalidFieldError(FieldError("files", description))
    return fields, files


async def from_file(
    metadata: DocumentMetadata, file: UploadFile
) -> AsyncIterator[IngestDocumentRequest]:
    """Yields a file as the contract's stream."""
    yield IngestDocumentRequest(metadata=metadata)
    while data := await file.read(PIECE_BYTES):
        yield IngestDocumentRequest(data=data)


def _fields(texts: dict[str, str]) -> UploadFields:
    metadata = texts.pop("metadata", None)
    try:
        fields = UploadFields.model_validate(texts)
    except ValidationError as error:
        raise invalid(error.errors(include_input=False)) from None
    return fields.model_copy(update={"metadata": _object(metadata)})


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        return _JSON_OBJECT.validate_json(text)
    except ValidationError as error:
        raise invalid(error.errors(include_input=False), "metadata") from None


def _content_type(file: UploadFile) -> str:
    content_type = (file.content_type or "").partition(";")[0].strip().lower()
    return (
        content_type_of(file.filename or "")
        or _ALSO_CALLED.get(content_type, content_type)
        or "text/plain"
    )
