"""The explorer page in a real Chromium over the running system: every view, hostile data, accessibility."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browsers import ARGUMENTS, MISSING, find_browser
from tests.e2e.conftest import HOSTILE_KEY, OTHER_KEY, System

ADDED, ENDED = "#16a34a", "#dc2626"
SERIOUS = {"serious", "critical"}
QUESTION = "Who owns the Ledger Service?"
INJECTED = (
    "<img src=x onerror=\"document.title='injected'\"><script>document.title='injected'</script>"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser, once for the module."""
    found = find_browser()
    if found is None:
        pytest.skip(MISSING)
    expect.set_options(timeout=60_000)  # the machine may be busy
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def errors() -> list[str]:
    """The errors of the page's scripts."""
    return []


@pytest.fixture
def page(browser: Browser, system: System, errors: list[str]) -> Iterator[Page]:
    """A page of a new visitor, who has not entered an API key."""
    context = browser.new_context(base_url=system.url, viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


def visit(page: Page, view: str, query: str = "") -> None:
    page.goto(f"/#/{view}{query}")
    page.wait_for_selector(f"html[data-ready='{view}']")


def add(client: httpx2.Client, document: dict[str, Any]) -> None:
    """Adds a document, and waits until its job has succeeded."""
    accepted = client.post("/api/documents", json=document)
    assert accepted.status_code == 202, accepted.text
    with client.stream("GET", f"{accepted.headers['location']}/events") as events:
        assert '"SUCCEEDED"' in events.read().decode()


def enter_key(page: Page, key: str) -> None:
    page.get_by_role("button", name="API key").click()
    page.get_by_label("API key", exact=True).last.fill(key)
    page.get_by_role("button", name="Use").click()


def is_too_wide(page: Page) -> bool:
    wide: bool = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return wide


def serious_violations(page: Page) -> list[str]:
    violations: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in violations
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def test_a_search_shows_passages_scores_and_the_status_of_each_leg(page: Page) -> None:
    visit(page, "search")
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_label("How each part of the search ended")).to_contain_text("vector")
    first = page.locator("article").first
    expect(first).to_contain_text("Ledger Service")
    expect(first.locator("mark").first).to_be_visible()
    first.get_by_text("Score").click()
    expect(first).to_contain_text("vector #")
    assert "q=Who+owns+the+Ledger+Service" in page.url


def test_a_link_repeats_its_search_and_back_restores_the_previous_one(page: Page) -> None:
    visit(page, "search", "?q=RabbitMQ")
    expect(page.locator("article").first).to_contain_text("RabbitMQ")
    page.get_by_label("Question").fill("Typesense")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("article").first).to_contain_text("Typesense")
    page.go_back()
    expect(page.get_by_label("Question")).to_have_value("RabbitMQ")
    expect(page.locator("article").first).to_contain_text("RabbitMQ")


def test_a_search_without_matches_shows_a_message(page: Page) -> None:
    visit(page, "search", "?q=zxqv+blorp")
    expect(page.get_by_text("Nothing in this space matches")).to_be_visible()


def test_a_result_opens_its_passage_in_a_dialog(page: Page) -> None:
    visit(page, "search", "?q=What+caused+INC-104%3F")
    page.locator("article").first.locator("h3 button").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("mark")).to_contain_text("INC-104")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_an_answer_shows_its_tools_and_its_citations_open_the_passage(page: Page) -> None:
    visit(page, "ask")
    page.get_by_label("Question").last.fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    answer = page.locator(".turn:not(.user):not([aria-busy])")
    expect(answer).to_contain_text("Noor Haddad", timeout=30_000)
    expect(answer.locator("details summary").first).to_contain_text("found")
    answer.locator("button.cite").first.click()
    expect(page.get_by_role("dialog").locator("mark")).to_be_visible()
    assert "conversation=" in page.url


def test_a_neighborhood_is_drawn_and_listed_and_grows_on_click(page: Page) -> None:
    visit(page, "graph", "?entity=Ledger+Service")
    expect(page.locator("canvas").first).to_be_visible()
    before = page.evaluate("window.braidDrawing.nodes")
    assert before > 3
    expect(page.get_by_role("table")).to_contain_text("Noor Haddad")
    page.get_by_role("button", name="Show neighbors of Noor Haddad").click()
    expect(page.locator("main > .quiet").first).not_to_contain_text(f"{before} entities")
    assert page.evaluate("window.braidDrawing.nodes") > before


def test_the_graph_shows_another_time_and_the_changes_since_then(page: Page) -> None:
    visit(page, "graph", "?entity=Ledger+Service&as_of=2024-01-01")
    expect(page.get_by_role("table")).to_contain_text("Jonas Weber")
    visit(page, "graph", "?entity=Ledger+Service&as_of=2024-12-31&since=2024-01-01")
    expect(page.locator("li.added, li.changed").first).to_be_visible()
    # In the drawing, facts that began since then are green and facts that ended are red.
    assert {ADDED, ENDED} <= set(page.evaluate("window.braidDrawing.colours"))


def test_the_slider_moves_the_graph_through_time(page: Page) -> None:
    visit(page, "graph", "?entity=Ledger+Service&as_of=2024-06-12")
    expect(page.get_by_role("table")).not_to_contain_text("Jonas Weber")
    slider = page.get_by_role("slider", name="As of")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowLeft")
    expect(page).to_have_url(re.compile("as_of=2024-06-0"))
    expect(page.get_by_role("table")).to_contain_text("Jonas Weber")


def test_paths_between_two_entities_are_drawn_and_listed(page: Page) -> None:
    visit(page, "graph", "?entity=Hanna+Virtanen&to=INC-104")
    expect(page.locator("section.card").first).to_contain_text("INC-104")
    expect(page.locator("canvas").first).to_be_visible()
    assert "INC-104" in page.evaluate("window.braidDrawing.labels")


def test_a_document_is_uploaded_with_its_progress_and_deleted_with_a_receipt(page: Page) -> None:
    visit(page, "documents")
    enter_key(page, OTHER_KEY)
    content = b"# Kiln notes\n\nThe kiln of the Harbour Workshop is fired on Tuesdays."
    page.get_by_label("Files to add").set_input_files(
        {"name": "kiln.md", "mimeType": "text/markdown", "buffer": content}
    )
    expect(page.locator("progress").first).to_be_visible()
    row = page.get_by_role("row").filter(has_text="Kiln notes")
    expect(row).to_be_visible(timeout=30_000)
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted:")).to_contain_text("chunks", timeout=30_000)


def test_a_document_shows_its_versions(page: Page, system: System) -> None:
    with system.client(OTHER_KEY) as client:
        for text, since in (("Rope is hemp.", "2023-01-01"), ("Rope is nylon.", "2024-01-01")):
            document = {"id": "rope.md", "title": "Rope", "text": text, "valid_at": since}
            add(client, document)
    visit(page, "documents")
    enter_key(page, OTHER_KEY)
    page.get_by_role("link", name="Rope", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".passage")).to_contain_text("nylon")
    dialog.get_by_text("Version 2").click()
    expect(dialog.get_by_label("Versions")).to_contain_text("version 1: 2023-01-01 → 2024-01-01")


def test_markup_in_titles_and_names_is_shown_as_text(page: Page, system: System) -> None:
    with system.client(HOSTILE_KEY) as client:
        document = {
            "id": "markup.md",
            "title": INJECTED,
            "text": f"A gadget called Zorble. {INJECTED}",
        }
        add(client, document)
        fact = {
            "subject": f"{INJECTED}",
            "relation": "OWNS",
            "object": "\u202eZorble",
            "fact": INJECTED,
        }
        assert client.post("/api/facts", json={"facts": [fact]}).status_code == 200
    visit(page, "search")
    enter_key(page, HOSTILE_KEY)
    visit(page, "graph", "?entity=%E2%80%AEZorble")
    expect(page.get_by_role("table")).to_contain_text("<img src=x")
    visit(page, "documents")
    assert "injected" not in page.title()
    assert page.locator("img[src='x']").count() == 0


def test_a_wrong_key_shows_an_alert(page: Page) -> None:
    visit(page, "search", "?q=Zorble")
    enter_key(page, "not-a-key")
    expect(page.get_by_role("alert")).to_contain_text("API key is needed")


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_views_are_accessible_and_fit_the_screen_width(page: Page, width: int, scheme: Any) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    for view, query in (
        ("search", "?q=Who+owns+the+Ledger+Service%3F"),
        ("ask", ""),
        ("graph", "?entity=Ledger+Service"),
        ("documents", ""),
    ):
        visit(page, view, query)
        assert serious_violations(page) == []
        assert not is_too_wide(page), view


def test_a_view_can_be_reached_by_keyboard(page: Page) -> None:
    visit(page, "search")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.get_by_role("link", name="Graph", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-ready='graph']")


def test_the_script_takes_a_screenshot_of_each_view(
    browser: Browser, system: System, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "tests.e2e.screenshots", system.url, str(tmp_path)]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    pictures = {path.stem: path.read_bytes() for path in tmp_path.glob("*.png")}
    assert set(pictures) == {"search", "ask", "graph", "documents"}
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())


def test_the_images_in_docs_are_small() -> None:
    docs = Path(__file__).parents[2] / "docs"
    assert sum(path.stat().st_size for path in docs.glob("*.png")) < 300 * 1024
