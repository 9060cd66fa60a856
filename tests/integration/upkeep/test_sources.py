"""Sources on the real database: what they are and how their last run ended is kept for their space alone."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from braid.agent.v1 import sources_pb2, sources_pb2_grpc
from braid.common.v1 import errors_pb2
from services.runtime.channels import Metadata
from services.runtime.status import error_from_rpc
from tests.integration.upkeep.conftest import OURS, World
from tests.integration.upkeep.test_space_deletion import another

Kind = sources_pb2.SourceKind


def service(world: World) -> sources_pb2_grpc.SourceServiceStub:
    return sources_pb2_grpc.SourceServiceStub(world.channel)


async def put(
    world: World, name: str = "handbook", caller: Metadata = OURS, **given: Any
) -> sources_pb2.Source:
    """Sets what a source is."""
    wanted = {"kind": Kind.SOURCE_KIND_FOLDER, "root": "/srv/handbook", **given}
    request = sources_pb2.PutSourceRequest(name=name, **wanted)
    return (await service(world).PutSource(request, metadata=caller, timeout=20)).source


async def names(world: World, caller: Metadata) -> list[str]:
    request = sources_pb2.ListSourcesRequest()
    answer = await service(world).ListSources(request, metadata=caller, timeout=20)
    return [one.name for one in answer.sources]


async def test_a_source_is_changed_and_keeps_its_last_run(world: World) -> None:
    caller = another()
    first = await put(world, caller=caller, include=["*.md"], exclude=["drafts/"], every_minutes=15)
    assert (list(first.include), list(first.exclude), first.every_minutes) == (
        ["*.md"],
        ["drafts/"],
        15,
    )
    assert not first.HasField("last_run")
    run = sources_pb2.RecordSourceRunRequest(
        name="handbook",
        seconds=1.5,
        added_count=3,
        removed_count=1,
        failed_count=1,
        failures=["a.pdf: is damaged"],
        skipped=[sources_pb2.SkippedFiles(type=".zip", count=2)],
    )
    await service(world).RecordSourceRun(run, metadata=caller, timeout=20)
    changed = await put(
        world, caller=caller, kind=Kind.SOURCE_KIND_WEB, root="https://example.org", paused=True
    )
    assert (changed.kind, changed.paused, list(changed.include)) == (Kind.SOURCE_KIND_WEB, True, [])
    assert not changed.HasField("every_minutes")
    assert changed.create_time == first.create_time
    last = changed.last_run
    assert (last.seconds, last.added_count, last.removed_count, last.failed_count) == (1.5, 3, 1, 1)
    assert (list(last.failures), dict(last.skipped_counts)) == (["a.pdf: is damaged"], {".zip": 2})
    assert last.end_time.ToDatetime() >= first.create_time.ToDatetime()
    got = await service(world).GetSource(
        sources_pb2.GetSourceRequest(name="handbook"), metadata=caller, timeout=20
    )
    assert got.source == changed
    gone = await service(world).DeleteSource(
        sources_pb2.DeleteSourceRequest(name="handbook"), metadata=caller, timeout=20
    )
    assert gone.source == changed
    assert await names(world, caller) == []


async def test_spaces_have_sources_of_their_own(world: World) -> None:
    ours, theirs = another(), another()
    for name in ("b", "a", "ä"):
        await put(world, name, ours)
    await put(world, "a", theirs, root="/elsewhere")
    assert await names(world, ours) == ["a", "b", "ä"]
    await service(world).DeleteSource(
        sources_pb2.DeleteSourceRequest(name="a"), metadata=theirs, timeout=20
    )
    assert await names(world, ours) == ["a", "b", "ä"]


@pytest.mark.parametrize(
    "request_",
    [
        sources_pb2.GetSourceRequest(name="absent"),
        sources_pb2.DeleteSourceRequest(name="absent"),
        sources_pb2.RecordSourceRunRequest(name="absent"),
    ],
)
async def test_a_source_that_is_not_there_is_not_found(world: World, request_: Any) -> None:
    method = request_.DESCRIPTOR.name.removesuffix("Request")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await getattr(service(world), method)(request_, metadata=another(), timeout=20)
    assert error_from_rpc(refused.value).reason == errors_pb2.ERROR_REASON_NOT_FOUND


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": "a/b"}),
        ("name", {"name": " "}),
        ("name", {"name": "a\n"}),
        ("kind", {"kind": Kind.SOURCE_KIND_UNSPECIFIED}),
        ("root", {"root": ""}),
        ("root", {"root": "https://ann:secret@example.org/docs/"}),
        ("every_minutes", {"every_minutes": 0}),
        ("exclude[0]", {"exclude": [""]}),
    ],
)
async def test_a_wrong_field_is_refused_and_nothing_is_kept(
    world: World, field: str, given: dict[str, Any]
) -> None:
    caller = another()
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await put(world, caller=caller, **given)
    assert [one.field for one in error_from_rpc(refused.value).fields] == [field]
    assert await names(world, caller) == []


async def test_a_space_has_no_more_sources_than_it_may(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.agent_orchestrator.sources.store.MAX_SOURCES", 2)
    caller = another()
    await put(world, "one", caller)
    await put(world, "two", caller)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await put(world, "three", caller)
    assert [one.field for one in error_from_rpc(refused.value).fields] == ["name"]
    await put(world, "two", caller, root="/elsewhere")
