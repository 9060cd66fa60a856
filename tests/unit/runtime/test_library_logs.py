"""Libraries log in the format of Braid's own lines, without the text of errors."""

from __future__ import annotations

import json
import subprocess
import sys

PROCESS = """
import logging
from services.runtime.settings import RuntimeSettings
from services.runtime.telemetry import configure_telemetry

configure_telemetry(RuntimeSettings(_env_file=None, log_format="json"), "vector_search")
logging.getLogger("asyncpg").info("not of interest")
logging.getLogger("asyncpg").warning("Resetting connection %s", 7)
try:
    raise ValueError("a user's text")
except ValueError as error:
    text = f"Task exception was never retrieved\\nfuture: {error!r}"
    logging.getLogger("asyncio").error(text, exc_info=error)
"""


def test_a_log_line_of_a_library_is_json_without_the_text_of_errors() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROCESS], capture_output=True, text=True, check=True, timeout=60
    )
    plain, failed = map(json.loads, done.stderr.splitlines())
    assert (plain["event"], plain["level"]) == ("Resetting connection 7", "warning")
    assert plain["logger"] == "asyncpg"
    assert (failed["event"], failed["error"]) == (
        "Task exception was never retrieved",
        "ValueError",
    )
    assert "line " in failed["exception"]
    assert "a user's text" not in done.stderr
