"""The contract's SourceService."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeAlias

from braid.agent.v1 import sources_pb2, sources_pb2_grpc
from services.agent_orchestrator.sources.store import SourceRecord, SourceSpec, SourceStore
from services.runtime.addresses import has_password
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.times import to_timestamp

Context: TypeAlias = Any

_NUMBERS = (
    "seconds",
    "added_count",
    "changed_count",
    "unchanged_count",
    "removed_count",
    "failed_count",
)


class SourceServicer(sources_pb2_grpc.SourceServiceServicer):
    """Keeps the sources of the caller's space."""

    def __init__(self, store: SourceStore) -> None:
        self._store = store

    async def PutSource(
        self, request: sources_pb2.PutSourceRequest, _context: Context
    ) -> sources_pb2.PutSourceResponse:
        """See the contract."""
        put = await self._store.put(current_call().space, _spec(request))
        return sources_pb2.PutSourceResponse(source=_message(put))

    async def ListSources(
        self, _request: sources_pb2.ListSourcesRequest, _context: Context
    ) -> sources_pb2.ListSourcesResponse:
        """See the contract."""
        found = await self._store.all(current_call().space)
        return sources_pb2.ListSourcesResponse(sources=map(_message, found))

    async def GetSource(
        self, request: sources_pb2.GetSourceRequest, _context: Context
    ) -> sources_pb2.GetSourceResponse:
        """See the contract."""
        found = await self._store.get(current_call().space, request.name)
        return sources_pb2.GetSourceResponse(source=_message(found))

    async def DeleteSource(
        self, request: sources_pb2.DeleteSourceRequest, _context: Context
    ) -> sources_pb2.DeleteSourceResponse:
        """See the contract."""
        gone = await self._store.delete(current_call().space, request.name)
        return sources_pb2.DeleteSourceResponse(source=_message(gone))

    async def RecordSourceRun(
        self, request: sources_pb2.RecordSourceRunRequest, _context: Context
    ) -> sources_pb2.RecordSourceRunResponse:
        """See the contract."""
        run = {
            **{name: getattr(request, name) for name in _NUMBERS},
            "failures": list(request.failures),
            "skipped_counts": {one.type: one.count for one in request.skipped},
            "error": request.error,
        }
        noted = await self._store.record_run(current_call().space, request.name, run)
        return sources_pb2.RecordSourceRunResponse(source=_message(noted))


def _spec(request: sources_pb2.PutSourceRequest) -> SourceSpec:
    """Raises InvalidFieldError if the name could be the beginning of another source's ids."""
    name = request.name
    if not name.strip() or not name.isprintable() or "/" in name:
        raise InvalidFieldError(FieldError("name", "must be printable characters without `/`"))
    if has_password(request.root):
        raise InvalidFieldError(
            FieldError("root", "must not hold a password: whoever may read the space reads it")
        )
    return SourceSpec(
        name=name,
        kind=request.kind,
        root=request.root,
        include=list(request.include),
        exclude=list(request.exclude),
        every_minutes=request.every_minutes if request.HasField("every_minutes") else None,
        credential_variable=request.credential_variable,
        with_history=request.with_history,
        paused=request.paused,
    )


def _message(record: SourceRecord) -> sources_pb2.Source:
    spec, run = record.spec, dict(record.last_run)
    message = sources_pb2.Source(
        name=spec.name,
        kind=spec.kind,
        root=spec.root,
        include=spec.include,
        exclude=spec.exclude,
        every_minutes=spec.every_minutes,
        credential_variable=spec.credential_variable,
        with_history=spec.with_history,
        paused=spec.paused,
        create_time=to_timestamp(record.create_time),
    )
    if run:
        end_time = to_timestamp(datetime.fromisoformat(run.pop("end_time")))
        message.last_run.CopyFrom(sources_pb2.SourceRun(end_time=end_time, **run))
    return message
