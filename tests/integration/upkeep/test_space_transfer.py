"""A space as pages on real stores: what was exported, deleted and imported is what it was, on every clock."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack

import grpc
import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2, spaces_pb2, transfer_pb2
from braid.common.v1 import errors_pb2
from services.runtime import space_rows
from services.runtime.channels import Metadata
from services.runtime.status import error_from_rpc
from tests.integration.upkeep.conftest import OURS, World
from tests.integration.upkeep.test_space_deletion import another, counted, fill
from tests.integration.upkeep.test_space_isolation import TEXT, seen

Page = transfer_pb2.ExportSpacePageResponse


def delegate(world: World) -> Metadata:
    """A credential that may act for all users of the space."""
    return (("authorization", "Bearer agent-key"), ("braid-space", world.space))


async def exported(world: World, caller: Metadata) -> list[Page]:
    """All pages of a space."""
    pages = [Page(next_page_token="")]
    request = transfer_pb2.ExportSpacePageRequest()
    while len(pages) == 1 or request.page_token:
        page = await world.transfer.ExportSpacePage(request, metadata=caller, timeout=30)
        pages.append(page)
        request.page_token = page.next_page_token
    return pages[1:]


def rows_of(pages: list[Page]) -> dict[tuple[int, str, str], list[str]]:
    """Rows by store, partition and kind, without what counts writes."""
    found: dict[tuple[int, str, str], list[str]] = {}
    for one in pages:
        if one.rows and not (one.store == jobs_pb2.STORE_NEO4J and one.kind == "space"):
            found.setdefault((one.store, one.partition, one.kind), []).extend(one.rows)
    return found


async def begin(
    world: World, caller: Metadata, space: str, archive: str = "one"
) -> transfer_pb2.StartSpaceImportResponse:
    """Begins an import."""
    request = transfer_pb2.StartSpaceImportRequest(exported_space=space, archive_id=archive)
    return await world.transfer.StartSpaceImport(request, metadata=caller, timeout=20)


async def put(world: World, caller: Metadata, import_id: str, number: int, page: Page) -> None:
    """Imports a page."""
    request = transfer_pb2.ImportSpacePageRequest(
        import_id=import_id,
        number=number,
        store=page.store,
        partition=page.partition,
        kind=page.kind,
        rows=page.rows,
    )
    await world.transfer.ImportSpacePage(request, metadata=caller, timeout=30)


async def finish(world: World, caller: Metadata, import_id: str) -> None:
    """Ends an import."""
    request = transfer_pb2.FinishSpaceImportRequest(import_id=import_id)
    await world.transfer.FinishSpaceImport(request, metadata=caller, timeout=20)


async def refused(call: object) -> errors_pb2.ErrorReason.ValueType:
    """The reason for which a call was refused."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call  # type: ignore[misc]
    return error_from_rpc(error.value).reason


async def delete(world: World, caller: Metadata) -> None:
    """Deletes the space."""
    request = spaces_pb2.DeleteSpaceRequest(confirm=world.space)
    answer = await world.spaces.DeleteSpace(request, metadata=caller, timeout=20)
    job = await world.ended(answer.job.id, caller)
    assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED


@pytest.mark.parametrize("rows_at_once", [1, 2, 500])
async def test_a_space_that_was_exported_deleted_and_imported_is_what_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch, rows_at_once: int
) -> None:
    monkeypatch.setattr(space_rows, "ROWS_AT_ONCE", rows_at_once)
    ours = delegate(world)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await fill(world, ours, "ada")
        await world.put("note", TEXT + " Karl Otto moved to Graz.", "Mira Okafor", ours)
        await world.put("former", "Karl Otto lived in Linz.", "Karl Otto", ours)
        ended = ingest_pb2.DeleteDocumentRequest(document_id="former", keep_versions=True)
        job = (await world.ingest.DeleteDocument(ended, metadata=ours, timeout=20)).job
        await world.ended(job.id, ours)
        before, usage = await seen(world, ours), await counted(world, ours)
        pages = await exported(world, ours)
        await delete(world, ours)
        begun = await begin(world, ours, world.space)
        for number, page in enumerate(pages, 1):
            await put(world, ours, begun.import_id, number, page)
        await finish(world, ours, begun.import_id)
        assert await seen(world, ours) == before
        after = await counted(world, ours)
        jobs = (jobs_pb2.STORE_ORCHESTRATOR, jobs_pb2.ROW_KIND_JOBS)
        assert {**after, jobs: 0} == {**usage, jobs: 0}
        assert rows_of(await exported(world, ours)) == rows_of(pages)
        # The space takes uploads again, in both stores.
        job = await world.put("later", "Mira Okafor met Karl Otto in Graz.", "Later", ours)
        assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED
        assert job.graph_ready_count == job.unit_count


async def test_an_interrupted_import_goes_on_and_no_page_counts_twice(world: World) -> None:
    ours = delegate(world)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await fill(world, ours, "ada")
        pages = await exported(world, ours)
        await delete(world, ours)
        begun = await begin(world, ours, world.space)
        half = len(pages) // 2
        for number, page in enumerate(pages[:half], 1):
            await put(world, ours, begun.import_id, number, page)
            await put(world, ours, begun.import_id, number, page)
        reason = await refused(put(world, ours, begun.import_id, half + 2, pages[half + 1]))
        assert reason == errors_pb2.ERROR_REASON_INVALID_FIELD
        wrong = errors_pb2.ERROR_REASON_WRONG_STATE
        assert await refused(begin(world, ours, world.space, "another")) == wrong
        assert await refused(world.send("other", TEXT, "Other", ours)) == wrong
        assert await refused(exported(world, ours)) == wrong
        await delete(world, ours)
        begun = await begin(world, ours, world.space)
        for number, page in enumerate(pages[:half], 1):
            await put(world, ours, begun.import_id, number, page)
        again = await begin(world, ours, world.space)
        assert (again.import_id, again.stored_page_count) == (begun.import_id, half)
        for number, page in enumerate(pages[half:], half + 1):
            await put(world, ours, begun.import_id, number, page)
        await finish(world, ours, begun.import_id)
        await finish(world, ours, begun.import_id)
        assert rows_of(await exported(world, ours)) == rows_of(pages)


async def test_an_archive_is_imported_into_an_empty_space_of_the_same_id_only(world: World) -> None:
    theirs = another()
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.put("note", TEXT, "Mira Okafor")
        wrong = errors_pb2.ERROR_REASON_WRONG_STATE
        assert await refused(begin(world, delegate(world), world.space)) == wrong
        field = errors_pb2.ERROR_REASON_INVALID_FIELD
        assert await refused(begin(world, theirs, world.space)) == field
        # A refused import leaves nothing behind: uploads go on.
        assert (await world.put("more", TEXT, "More")).state == jobs_pb2.JOB_STATE_SUCCEEDED


async def test_an_export_of_a_space_that_changes_is_refused(world: World) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.put("note", TEXT, "Mira Okafor")
        first = await world.transfer.ExportSpacePage(
            transfer_pb2.ExportSpacePageRequest(), metadata=delegate(world), timeout=20
        )
        await world.put("more", "Karl Otto moved to Graz.", "More")
        wrong = errors_pb2.ERROR_REASON_WRONG_STATE

        async def rest() -> None:
            request = transfer_pb2.ExportSpacePageRequest(page_token=first.next_page_token)
            while request.page_token:
                page = await world.transfer.ExportSpacePage(
                    request, metadata=delegate(world), timeout=20
                )
                request.page_token = page.next_page_token

        assert await refused(rest()) == wrong


async def test_a_key_that_may_not_act_for_all_users_exports_and_imports_nothing(
    world: World,
) -> None:
    missing = errors_pb2.ERROR_REASON_MISSING_SCOPE
    assert await refused(exported(world, OURS)) == missing
    assert await refused(begin(world, OURS, world.space)) == missing
    begun = await begin(world, delegate(world), world.space)
    page = Page(store=jobs_pb2.STORE_ORCHESTRATOR, kind="memories")
    assert await refused(put(world, OURS, begun.import_id, 1, page)) == missing
    assert await refused(finish(world, OURS, begun.import_id)) == missing


async def test_no_page_reaches_another_space_or_what_no_version_has_exported(world: World) -> None:
    theirs = another()
    space = theirs[1][1]
    begun = await begin(world, theirs, str(space))
    field = errors_pb2.ERROR_REASON_INVALID_FIELD
    for store, partition, kind, row in (
        (jobs_pb2.STORE_POSTGRESQL, world.space, "documents", "{}"),
        (jobs_pb2.STORE_POSTGRESQL, "", "unheard_of", "{}"),
        (jobs_pb2.STORE_POSTGRESQL, "", "documents", '{"document_id": null}'),
        (jobs_pb2.STORE_POSTGRESQL, "", "documents", '{"unknown": 1}'),
        (jobs_pb2.STORE_POSTGRESQL, "", "documents", "no JSON"),
        (jobs_pb2.STORE_NEO4J, "", "entities", '{"labels": ["BraidSpace"], "properties": {}}'),
        (jobs_pb2.STORE_NEO4J, "", "entities", '{"labels": ["Entity"], "properties": {"a": [{}]}}'),
        (jobs_pb2.STORE_NEO4J, "", "mentions", '{"type": "OWNS", "properties": {}}'),
        (
            jobs_pb2.STORE_NEO4J,
            "",
            "entities",
            '{"labels": ["Entity", "BraidSchema"], "properties": {"uuid": "a"}}',
        ),
        (
            jobs_pb2.STORE_NEO4J,
            "",
            "facts",
            '{"source": "a", "target": "b", "properties": {"uuid": "c"}, "claims": []}',
        ),
        (jobs_pb2.STORE_POSTGRESQL, "", "space", '{"language": "english"}'),
        (jobs_pb2.STORE_POSTGRESQL, "", "embeddings", '{"chunk_id": "a"}'),
        (jobs_pb2.STORE_ORCHESTRATOR, "", "conversation_messages", "[]"),
        (jobs_pb2.STORE_ORCHESTRATOR, "", "memories", '{"id": "no id"}'),
    ):
        page = Page(store=store, partition=partition)
        page.kind = kind
        page.rows.append(row)
        assert await refused(put(world, theirs, begun.import_id, 1, page)) == field, row
    page = Page(store=jobs_pb2.STORE_POSTGRESQL)
    page.kind = "documents"
    page.rows.append(json.dumps({"document_id": "a", "space": world.space, "written_at": "now"}))
    await put(world, theirs, begun.import_id, 1, page)
    assert await counted(world, OURS) == {}
