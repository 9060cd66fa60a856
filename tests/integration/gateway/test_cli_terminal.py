"""The `braid` command on a terminal and without one: colors, widths, completion."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from braid.vector.v1 import documents_pb2
from tests.integration.gateway.command import braid, started
from tests.integration.gateway.conftest import Served

DOCUMENT_ID = "notes/2024-04-18-inc-104-checkout-timeouts.md"
LISTED = documents_pb2.ListDocumentsResponse(
    documents=[
        documents_pb2.Document(
            document_id=DOCUMENT_ID, title="Checkout timeouts in the evening", version=2
        )
    ]
)
COMMANDS = ["up", "status", "ingest", "search", "ask", "chat", "mcp", "documents", "jobs", "graph"]


async def on_terminal(served: Served, columns: int, *words: str, **environment: str) -> str:
    """Returns what the command writes to a terminal of this width."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    settings = {"TERM": "xterm-256color", "COLUMNS": "", **environment}
    with os.fdopen(its, "wb") as terminal:
        process = await started(served, *words, output=terminal, environment=settings)
    await process.communicate()
    with os.fdopen(ours, "rb", buffering=0) as read:
        return read.read(65536).decode()


@pytest.mark.parametrize("columns", [30, 60, 120])
async def test_a_list_fits_the_terminal(served: Served, columns: int) -> None:
    served.script.answer("ListDocuments", LISTED)
    written = await on_terminal(served, columns, "documents", "list")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", written).splitlines()
    assert max(map(len, lines)) <= columns
    # An id that is wider than the terminal is wrapped and not truncated.
    assert DOCUMENT_ID in "".join(line.strip() for line in lines)
    assert any(DOCUMENT_ID in line for line in lines) == (columns > len(DOCUMENT_ID))


async def test_colors_are_used_only_on_a_terminal(served: Served) -> None:
    served.script.answer("ListDocuments", LISTED)
    assert "\x1b[" in await on_terminal(served, 80, "documents", "list")
    assert "\x1b[" not in await on_terminal(served, 80, "documents", "list", NO_COLOR="1")
    piped = await braid(served, "documents", "list", TERM="xterm-256color")
    assert "\x1b[" not in piped.out
    (row,) = [line for line in piped.out.splitlines() if DOCUMENT_ID in line]
    assert "Checkout timeouts in the evening" in row


async def completed(*words: str) -> list[str]:
    """Returns what bash offers after these words, with the script that `braid --show-completion` prints."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    # The command detects the shell from its parent process: `true` keeps bash from replacing itself with the command.
    script = f"""
    PATH={Path(sys.executable).parent}:$PATH
    source <(bash -c 'braid --show-completion; true')
    COMP_WORDS=({" ".join(words)}) COMP_CWORD={len(words) - 1}
    _braid_completion braid
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    process = await asyncio.create_subprocess_exec(
        bash, "-c", script, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert err == b""
    return out.decode().split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["braid", "gr"], ["graph"]),
        (["braid", "graph", "h"], ["history"]),
        (["braid", "search", "x", "--mode", "t"], ["text"]),
        (["braid", "jobs", "list", "--st"], ["--state"]),
    ],
)
async def test_bash_completes_commands_options_and_values(
    words: list[str], offered: list[str]
) -> None:
    assert await completed(*words) == offered


def test_completion_is_installed_for_a_shell(tmp_path: Path) -> None:
    subprocess.run(
        ["bash", "-c", f"{sys.executable} -m gateway.cli --install-completion; true"],
        env=os.environ | {"HOME": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    installed = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("COMP_WORDS" in path.read_text() for path in installed)
