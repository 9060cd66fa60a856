"""Screenshots of each view of the explorer page: `python -m tests.e2e.screenshots URL FOLDER` with a running stack."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from playwright.async_api import async_playwright

from tests.browsers import ARGUMENTS, find_browser

VIEWS = {
    "search": "search?q=Who+owns+the+Ledger+Service%3F",
    "ask": "ask",
    "graph": "graph?entity=Ledger+Service&since=2024-01-01",
    "documents": "documents",
}
QUESTION = "Who owned the Ledger Service when it caused INC-104, and who owns it now?"
SETTLED_MS = 800


async def take(url: str, folder: Path) -> None:
    """Writes `<view>.png` for each view, 1280 by 800."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        for view, address in VIEWS.items():
            await page.goto(f"{url}/#/{address}")
            await page.wait_for_selector(f"html[data-ready='{view}']")
            if view == "ask":
                await page.get_by_label("Question").last.fill(QUESTION)
                await page.get_by_role("button", name="Ask", exact=True).click()
                await page.wait_for_selector(".turn:not(.user):not([aria-busy])")
            await page.wait_for_timeout(SETTLED_MS)
            await page.screenshot(path=folder / f"{view}.png")
        await browser.close()


if __name__ == "__main__":
    asyncio.run(take(sys.argv[1], Path(sys.argv[2])))
