"""The explorer page in a real Chromium over scripted services: hostile data, long documents, failures, the keyboard."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from braid.agent.v1 import jobs_pb2, search_pb2
from braid.common.v1 import legs_pb2
from braid.graph.v1 import facts_pb2, query_pb2
from braid.vector.v1 import chunks_pb2, documents_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from tests.browsers import ARGUMENTS, MISSING, find_browser
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.samples import DAY, JOB_ID, struct
from tests.integration.gateway.scripted import Script

MARKUP = (
    "<img src=x onerror=\"document.title='injected'\"><script>document.title='injected'</script>"
)
# Right-to-left override: it reverses the direction of the text after it.
OVERRIDE = "\u202e"
HOSTILE = OVERRIDE + MARKUP
CHUNK_CHARACTERS = 1000
CHUNKS_OF_5_MB = 5000


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    found = find_browser()
    if found is None:
        pytest.skip(MISSING)
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield running
        await running.close()


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a new visitor. Fails if a script on it raised an error."""
    errors: list[str] = []
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    opened = await context.new_page()
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)
    yield opened
    await context.close()
    assert errors == []


@pytest.fixture(autouse=True)
def empty_space(script: Script) -> None:
    """Default responses to what each view requests by itself."""
    script.answer("ListDocuments", documents_pb2.ListDocumentsResponse())
    script.answer("ListJobs", jobs_pb2.ListJobsResponse())
    script.answer("ListDeadDocuments", jobs_pb2.ListDeadDocumentsResponse())
    script.answer("ListEntities", query_pb2.ListEntitiesResponse())
    script.answer("ComprehensiveSearch", found("Found"))


async def visit(page: Page, url: str, view: str, query: str = "") -> None:
    await page.goto(f"{url}/#/{view}{query}")
    await page.wait_for_selector(f"html[data-ready='{view}']")


def found(title: str) -> search_pb2.ComprehensiveSearchResponse:
    result = search_pb2.SearchResult(id="c", document_id="d.md", title=title, content=title)
    leg = legs_pb2.LegReport(leg=legs_pb2.LEG_VECTOR, status=legs_pb2.LEG_STATUS_OK)
    return search_pb2.ComprehensiveSearchResponse(results=[result], legs=[leg])


def entity(number: int, name: str) -> facts_pb2.Entity:
    return facts_pb2.Entity(id=f"e-{number}", name=name, type="Person", mention_count=1)


def neighborhood(center: str, *others: str) -> query_pb2.GetNeighborhoodResponse:
    """An entity with one fact about each of the others."""
    nodes = [entity(number, name) for number, name in enumerate(others, start=1)]
    edges = [
        facts_pb2.Fact(
            id=f"f-{one.id}",
            statement=f"{center} knows {one.name}",
            relation_type="KNOWS",
            subject=facts_pb2.EntityRef(id="e-0", name=center, type="Person"),
            object=facts_pb2.EntityRef(id=one.id, name=one.name, type="Person"),
            origin=facts_pb2.FACT_ORIGIN_GIVEN,
        )
        for one in nodes
    ]
    return query_pb2.GetNeighborhoodResponse(
        center=entity(0, center), nodes=nodes, edges=edges, neighbor_count=len(nodes)
    )


def chunk_id(number: int) -> str:
    return str(UUID(int=number))


async def assert_nothing_ran(page: Page) -> None:
    assert "injected" not in await page.title()
    assert await page.locator("img[src='x']").count() == 0
    assert await page.locator("main script, dialog script").count() == 0


async def test_markup_and_direction_marks_in_titles_and_metadata_are_shown_as_text(
    served: Served, page: Page
) -> None:
    document = documents_pb2.Document(
        document_id="d.md",
        title=HOSTILE,
        source=HOSTILE,
        metadata=struct(**{MARKUP: HOSTILE}),
        version=1,
    )
    listed = documents_pb2.ListDocumentsResponse(documents=[document])
    served.script.answer("ListDocuments", listed)
    opened_document = documents_pb2.GetDocumentResponse(document=document, chunk_ids=[chunk_id(1)])
    served.script.answer("GetDocument", opened_document)
    version = documents_pb2.DocumentVersion(version=1, title=HOSTILE)
    served.script.answer(
        "ListDocumentVersions", documents_pb2.ListDocumentVersionsResponse(versions=[version])
    )
    passage = chunks_pb2.Chunk(id=chunk_id(1), document_id="d.md", content=HOSTILE)
    served.script.answer("GetChunks", vector_pb2.GetChunksResponse(chunks=[passage]))
    served.script.answer("ComprehensiveSearch", found(HOSTILE))

    await visit(page, served.url, "search", "?q=x")
    title = page.locator("article h3 bdi")
    await expect(title).to_contain_text("<img src=x")
    # Isolated: the text after it keeps its own direction.
    assert await title.evaluate("one => getComputedStyle(one).unicodeBidi") == "isolate"
    await assert_nothing_ran(page)

    await visit(page, served.url, "documents", "?document=d.md")
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator(".passage")).to_contain_text("<script>")
    await dialog.locator("summary").click()
    await expect(dialog.get_by_role("list").first).to_contain_text("<img src=x")
    await expect(dialog.get_by_label("Versions")).to_contain_text("version 1")
    await assert_nothing_ran(page)


async def test_the_graph_shows_markup_in_names_as_text_without_direction_marks(
    served: Served, page: Page
) -> None:
    served.script.answer("GetNeighborhood", neighborhood(HOSTILE, f"Omar{OVERRIDE}Sayed"))
    await visit(page, served.url, "graph", "?entity=x")
    await expect(page.get_by_role("table")).to_contain_text("<img src=x")
    labels = await page.evaluate("window.braidDrawing.labels")
    assert labels == [MARKUP, "OmarSayed"]
    await assert_nothing_ran(page)


async def test_a_document_of_5_mb_is_loaded_in_parts(served: Served, page: Page) -> None:
    ids = [chunk_id(number) for number in range(1, CHUNKS_OF_5_MB + 1)]
    document = documents_pb2.Document(document_id="long.md", title="Long", version=1)
    opened_document = documents_pb2.GetDocumentResponse(document=document, chunk_ids=ids)
    served.script.answer("GetDocument", opened_document)
    text = "word " * (CHUNK_CHARACTERS // 5)
    chunks = [chunks_pb2.Chunk(id=one, document_id="long.md", content=text) for one in ids[:20]]
    served.script.answer("GetChunks", vector_pb2.GetChunksResponse(chunks=chunks))

    await visit(page, served.url, "documents", "?document=long.md")
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator("summary")).to_contain_text("5000 passages")
    await expect(dialog.locator(".passage p").first).to_be_visible()
    await dialog.get_by_role("button", name="Show more of the document").click()
    await expect(dialog.locator(".passage p")).to_have_count(40)
    asked = [one for one in served.script.seen if one.method.endswith("GetChunks")]
    assert [len(one.message.chunk_ids) for one in asked] == [3, 20]


async def test_back_and_forward_restore_each_view_from_its_address(
    served: Served, page: Page
) -> None:
    document = documents_pb2.Document(document_id="d.md", title="Notes", version=1)
    served.script.answer("ListDocuments", documents_pb2.ListDocumentsResponse(documents=[document]))
    opened_document = documents_pb2.GetDocumentResponse(document=document, chunk_ids=[chunk_id(1)])
    served.script.answer("GetDocument", opened_document)
    passage = chunks_pb2.Chunk(id=chunk_id(1), document_id="d.md", content="A passage.")
    served.script.answer("GetChunks", vector_pb2.GetChunksResponse(chunks=[passage]))

    await visit(page, served.url, "search", "?q=first")
    await page.get_by_role("link", name="Documents", exact=True).click()
    await page.get_by_role("link", name="Notes").click()
    await expect(page.get_by_role("dialog")).to_contain_text("A passage.")
    assert page.url.endswith("#/documents?document=d.md")
    await page.go_back()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.endswith("#/documents")
    await page.go_back()
    await expect(page.get_by_label("Question")).to_have_value("first")
    await page.go_forward()
    await page.go_forward()
    await expect(page.get_by_role("dialog")).to_contain_text("A passage.")
    await page.get_by_role("button", name="Close").click()
    await expect(page).to_have_url(re.compile("#/documents$"))


async def test_an_open_page_survives_a_restart_of_the_gateway(
    settings_of: Any, script: Script, page: Page
) -> None:
    running = jobs_pb2.Job(id=JOB_ID, state=jobs_pb2.JOB_STATE_RUNNING, unit_count=1, title="Notes")
    script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[running]))
    script.hang("WatchJob", jobs_pb2.WatchJobResponse(job=running))
    settings = await settings_of()
    async with serve_gateway(settings, script) as first:
        await visit(page, first.url, "documents")
        await script.reached.wait()
    card = page.locator(".card").filter(has_text="Notes")
    await expect(card).to_contain_text("trying again")
    await page.get_by_role("link", name="Search", exact=True).click()
    await page.get_by_label("Question").fill("anything")
    await page.get_by_role("button", name="Search").click()
    await expect(page.get_by_role("alert")).to_contain_text("The gateway does not answer")

    done = jobs_pb2.Job()
    done.MergeFrom(running)
    done.state = jobs_pb2.JOB_STATE_SUCCEEDED
    done.searchable_count = done.graph_ready_count = 1
    script.answer("WatchJob", jobs_pb2.WatchJobResponse(job=done))
    again = settings.model_copy(update={"gateway_listen": first.url.removeprefix("http://")})
    async with serve_gateway(again, script):
        await page.get_by_role("button", name="Search").click()
        await expect(page.locator("article")).to_contain_text("Found")
        await page.get_by_role("link", name="Documents", exact=True).click()
        await expect(page.locator(".card").filter(has_text="Notes")).to_contain_text("SUCCEEDED")


async def test_an_expired_key_is_reported_and_another_can_be_entered(
    settings_of: Any, script: Script, key_file: Path, page: Page
) -> None:
    settings = await settings_of(keys=key_file, allow_local=False)
    async with serve_gateway(settings, script) as guarded:
        await visit(page, guarded.url, "search")
        await enter_key(page, "reader")
        await page.get_by_label("Question").fill("anything")
        await page.get_by_role("button", name="Search").click()
        await expect(page.locator("article")).to_contain_text("Found")

        expire(key_file, "reader")
        alert = page.get_by_role("alert")
        async with asyncio.timeout(30):
            while not await alert.count():
                await page.get_by_role("button", name="Search").click()
                await page.wait_for_load_state("networkidle")
        await expect(alert).to_contain_text("not valid any more")
        await enter_key(page, "writer")
        await expect(page.locator("article")).to_contain_text("Found")
        assert guarded.script.seen[-1].call.space == "team-b"


def expire(key_file: Path, key: str) -> None:
    keys = json.loads(key_file.read_text())
    (record,) = [one for one in keys["keys"] if one["id"] == key]
    record["expires_at"] = DAY.isoformat()
    key_file.write_text(json.dumps(keys))


async def enter_key(page: Page, key: str) -> None:
    await page.get_by_role("button", name="API key").click()
    await page.get_by_label("API key", exact=True).last.fill(key)
    await page.get_by_role("button", name="Use").click()


async def test_the_graph_can_be_used_with_only_the_keyboard(served: Served, page: Page) -> None:
    served.script.answer("GetNeighborhood", neighborhood("Ada Brandt", "Omar Sayed", "Ida Holm"))
    await visit(page, served.url, "graph", "?entity=Ada+Brandt")
    await page.get_by_role("application").focus()
    for name in ("Ada Brandt", "Omar Sayed"):
        await page.keyboard.press("ArrowRight")
        await expect(page.locator("#status")).to_have_text(name)
    await page.keyboard.press("Enter")
    await expect(page.locator("#status")).to_have_text("3 entities")
    assert served.script.seen[-1].message.entity_name == "Omar Sayed"
    # The same without the drawing: every row of the table has a button.
    await page.get_by_role("button", name="Show neighbors of Ida Holm").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#status")).to_have_text("3 entities")


async def test_a_failed_document_shows_its_reason_and_can_be_retried(
    served: Served, page: Page
) -> None:
    failure = jobs_pb2.JobFailure(
        document_id="a.pdf", reason="is no PDF", stage=jobs_pb2.JOB_STAGE_SEARCH
    )
    dead = jobs_pb2.DeadDocument(job_id=JOB_ID, failure=failure)
    served.script.answer("ListDeadDocuments", jobs_pb2.ListDeadDocumentsResponse(documents=[dead]))
    done = jobs_pb2.Job(id=JOB_ID, state=jobs_pb2.JOB_STATE_SUCCEEDED, title="a.pdf")
    served.script.answer("RetryJob", jobs_pb2.RetryJobResponse(job=done))
    await visit(page, served.url, "documents")
    row = page.get_by_role("listitem").filter(has_text="a.pdf")
    await expect(row).to_contain_text("is no PDF")
    await row.get_by_role("button", name="Try again").click()
    await expect(page.locator(".card").filter(has_text="a.pdf")).to_contain_text("SUCCEEDED")
    assert served.script.seen[-1].method.rpartition("/")[2] in {
        "RetryJob",
        "ListDocuments",
        "ListDeadDocuments",
        "ListJobs",
    }
