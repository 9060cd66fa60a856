"""A real browser for tests, benchmarks and screenshots, if one is installed."""

from __future__ import annotations

import shutil

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
# In a container Chromium has no sandbox of its own.
ARGUMENTS = ["--no-sandbox"]
MISSING = f"needs one of {', '.join(NAMES)}"


def find_browser() -> str | None:
    """The path of an installed browser."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)
