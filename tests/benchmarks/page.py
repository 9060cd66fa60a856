"""Measures the explorer page: first paint, time until usable, bytes loaded, and the time to draw a graph."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import httpx2
from playwright.async_api import async_playwright

from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import running_stack
from tests.browsers import ARGUMENTS, MISSING, find_browser

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

_VISITS = 9
_NEIGHBORS = 99
_NODES = 200
_LARGE = {"width": 1440, "height": 900}
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_BYTES = (
    "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
    ".reduce((sum, one) => sum + one.transferSize, 0)"
)


async def run(options: Options) -> None:
    """Visits the page several times with an empty cache, then draws two neighborhoods of 100 nodes together."""
    figures = Figures(options.name)
    found = find_browser()
    if found is None:
        raise MeasureError(MISSING)
    async with running_stack() as stack, async_playwright() as playwright:
        url = f"http://{stack.addresses['gateway']}"
        await _load(url)
        browser = await playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        visits = [await _visit(browser, url) for _ in range(_VISITS)]
        drawn, drawing_kib = await _draw(browser, url)
        await browser.close()
    figures.put("first_paint_ms", median(paint for paint, _, _ in visits), "ms")
    figures.put("interactive_ms", median(ready for _, ready, _ in visits), "ms")
    figures.put("transfer_kib", visits[0][2] / 1024, "KiB")
    figures.put("transfer_with_drawing_kib", drawing_kib, "KiB")
    figures.put("draw_ms", drawn, "ms")


async def _load(url: str) -> None:
    facts = [
        {"subject": hub, "relation": "KNOWS", "object": f"{hub} {number}"}
        for hub in ("Left", "Right")
        for number in range(_NEIGHBORS)
    ]
    facts.append({"subject": "Left", "relation": "KNOWS", "object": "Right"})
    async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
        answer = await client.post("/api/facts", json={"facts": facts})
    if answer.json().get("added") != len(facts):
        raise MeasureError("the facts were not added")


async def _visit(browser: Browser, url: str) -> tuple[float, float, float]:
    """Visits the page; returns first paint and time until usable in milliseconds, and the bytes loaded."""
    context = await browser.new_context(viewport=_LARGE)  # type: ignore[arg-type] # a typed dict
    page = await context.new_page()
    await page.goto(f"{url}/#/search", wait_until="load")
    await page.wait_for_selector("html[data-ready='search'] input[type='search']")
    ready = float(await page.evaluate("performance.now()"))
    painted = float(await page.evaluate(_PAINT))
    loaded = float(await page.evaluate(_BYTES))
    await context.close()
    return painted or ready, ready, loaded


async def _draw(browser: Browser, url: str) -> tuple[float, float]:
    context = await browser.new_context(viewport=_LARGE)  # type: ignore[arg-type] # a typed dict
    page = await context.new_page()
    await page.goto(f"{url}/#/graph?entity=Left&limit=100")
    await page.wait_for_selector("canvas")
    await page.get_by_role("button", name="Show neighbors of Right", exact=True).click()
    state = await _drawing(page)
    loaded = float(await page.evaluate(_BYTES)) / 1024
    await context.close()
    return float(state["milliseconds"]), loaded


async def _drawing(page: Page) -> dict[str, Any]:
    for _ in range(200):
        state: dict[str, Any] = await page.evaluate("window.braidDrawing ?? {}")
        if state.get("nodes", 0) >= _NODES:
            return state
        await page.wait_for_timeout(50)
    raise MeasureError(f"the drawing never had {_NODES} nodes")
