"""Files are parsed in child processes, so that a file that breaks its reader does not affect other files."""

from __future__ import annotations

import ast
import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import psutil
import pytest
from structlog.testing import capture_logs

from services.agent_orchestrator.ingest.content_types import (
    CSV,
    DOCX,
    EPUB,
    HTML,
    JSON_LINES,
    MAIL,
    MAILBOX,
    MARKDOWN,
    MESSAGES,
    ODT,
    OUTLOOK,
    PDF,
    PLAIN,
    PPTX,
    RST,
    RTF,
    XLSX,
)
from services.agent_orchestrator.ingest.documents import (
    MIB,
    Limits,
    ParsedDocument,
    Rejected,
    Upload,
)
from services.agent_orchestrator.ingest.formats.parsing import parse
from services.agent_orchestrator.ingest.sandbox.child import LAZY_IMPORTS
from services.agent_orchestrator.ingest.sandbox.reader import Parsers, open_parsers
from tests.hostile import docx, paragraph, pdf
from tests.office_files import epub, opendocument, outlook, pptx, xlsx

# A page that keeps a parser busy for minutes.
ENDLESS = Upload(HTML, b"<div>" * 300_000 + b"x", source="endless.html")
# Uses what the library imports when it needs it: directives, roles, tables and warnings.
RST_TEXT = b"""
Title
=====

.. note:: A note with ``code`` and :ref:`a role`.

.. csv-table:: Costs
   :header: Item, Cost

   Rope, 3

.. code-block:: python

   print(1)

.. figure:: a.png

   A caption of a |rope|.

.. |rope| replace:: new rope
.. unknown:: x

:math:`x^2` and a `link <http://a.example>`_ [1]_

.. [1] A footnote.
"""
OUTLOOK_MESSAGE = outlook(
    subject="Crane",
    sender="Ana",
    to={"Bo": "bo@example.org"},
    body="It is broken.",
    sent=datetime(2024, 3, 5, tzinfo=UTC),
    files={"a.txt": b"One rope."},
)
NOTE = Upload(MARKDOWN, b"# Note\n\nSome text.", source="note.md", metadata={"k": 1})


@pytest.fixture
async def parsers() -> AsyncIterator[Parsers]:
    async with open_parsers(max_concurrent=2) as parsers:
        yield parsers


async def read(parsers: Parsers, upload: Upload) -> list[ParsedDocument | Rejected]:
    return [one async for part in parsers.parse(upload) for one in part]


def children() -> list[psutil.Process]:
    """Returns the running reader processes of this process."""
    return [one for one in psutil.Process().children() if _is_reader(one)]


def _is_reader(child: psutil.Process) -> bool:
    try:
        return any("sandbox.child" in word for word in child.cmdline())
    except psutil.NoSuchProcess:  # it ended after it was listed
        return False


def process_status(process: psutil.Process) -> dict[str, str]:
    """Returns what the kernel says about a process."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return dict(line.split(":", 1) for line in lines)


def folder_state(folder: Path) -> tuple[int, list[Path]] | None:
    """Returns a folder's permissions and entries; None if there is no such folder."""
    return (folder.stat().st_mode & 0o777, list(folder.iterdir())) if folder.exists() else None


def is_busy() -> bool:
    """Returns whether a child has used processor time."""
    return any(child.cpu_times().user > 0.5 for child in children())


async def wait_until(condition: Callable[[], bool]) -> None:
    """Polls the condition, because processes send no events."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "upload",
    [
        NOTE,
        Upload(PLAIN, "Grüße".encode(), document_id="d"),
        Upload(PLAIN, "Grüße an alle".encode("utf-16"), source="a.txt"),
        Upload(PDF, pdf([["One page."], ["Another one."]], title="T"), source="a.pdf"),
        Upload(DOCX, docx(paragraph("Head", "Heading1") + paragraph("Text")), source="a.docx"),
        Upload(PPTX, pptx(("Plan", ["Text"]), table=[["A", "B"], ["1", "2"]]), source="a.pptx"),
        Upload(XLSX, xlsx({"Staff": [["Name", "Since"], ["Ana", date(2024, 5, 1)]]}), source="a"),
        Upload(ODT, opendocument("text", "<text:p>Text</text:p>"), source="a.odt"),
        Upload(CSV, b"a;b\n1;2\n", source="a.csv"),
        Upload(RTF, rb"{\rtf1\ansi\ansicpg1250 Dvo\'f8\'e1k\par}", source="a.rtf"),
        Upload(RST, RST_TEXT, source="a.rst"),
        Upload(EPUB, epub("<h1>One</h1>"), source="a.epub"),
        Upload(OUTLOOK, OUTLOOK_MESSAGE, source="a.msg"),
        Upload(JSON_LINES, b'{"id": "a", "text": "x"}\n{'),
        Upload(MESSAGES, b'{"thread": "t", "time": "2024-05-01", "text": "x"}'),
        Upload(MAILBOX, b"From a 10:00\nDate: 1 May 2024 10:00 +0000\n\nx\n\nFrom b 11:00\n\ny\n"),
        Upload(PDF, b"no such file", source="a.pdf"),
    ],
    ids=lambda upload: upload.content_type,
)
async def test_a_child_reads_the_same_as_its_parent(parsers: Parsers, upload: Upload) -> None:
    assert await read(parsers, upload) == list(parse(upload))


async def test_light_uploads_need_no_child(parsers: Parsers) -> None:
    await read(parsers, Upload(JSON_LINES, b'{"id": "a", "text": "x"}'))
    await read(parsers, Upload(PLAIN, b"text"))
    assert children() == []


async def test_a_child_is_reused_for_the_next_file(parsers: Parsers) -> None:
    await read(parsers, NOTE)
    first = children()
    await read(parsers, NOTE)
    assert len(first) == 1
    assert children() == first


async def test_a_child_does_not_inherit_the_environment(
    parsers: Parsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAID_SERVICE_KEY", "secret")
    await read(parsers, NOTE)
    [child] = children()
    assert "BRAID_SERVICE_KEY" not in child.environ()


async def test_a_child_imports_nothing_from_the_folder_in_which_its_parent_runs(
    parsers: Parsers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "resource.py").write_text("raise SystemExit(3)")
    (tmp_path / "html.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert isinstance((await read(parsers, NOTE))[0], ParsedDocument)


async def test_a_child_has_an_empty_working_folder_that_ends_with_it() -> None:
    async with open_parsers() as parsers:
        await read(parsers, NOTE)
        [child] = children()
        folder = Path(child.cwd())
        assert folder_state(folder) == (0o700, [])
    assert folder_state(folder) is None


async def test_the_protections_that_hold_are_logged_once_at_the_start(parsers: Parsers) -> None:
    with capture_logs() as logs:
        await parsers.report_confinement()
    [line] = [line for line in logs if "confined" in line["event"]]
    assert line["files_denied"] is True
    assert line["network_denied"] is True
    assert line["log_level"] == "info"


async def test_a_child_has_no_privileges_to_regain(parsers: Parsers) -> None:
    await read(parsers, NOTE)
    [child] = children()
    status = process_status(child)
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == "2"
    assert int(status["CapEff"], 16) == 0
    assert child.rlimit(psutil.RLIMIT_FSIZE) == (0, 0)
    assert child.rlimit(psutil.RLIMIT_CORE) == (0, 0)
    _, hard_memory = child.rlimit(psutil.RLIMIT_AS)
    assert hard_memory < 2 * Limits().memory_bytes


def test_what_a_child_imports_when_it_needs_it_is_imported_before_it_is_confined() -> None:
    code = (
        "import sys; from services.agent_orchestrator.ingest.sandbox import child; "
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('services.') and m.__file__))"
    )
    own = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lazy = {
        name
        for path in own.stdout.split()
        if "/ingest/" in path
        for name in _imports_in_functions(ast.parse(Path(path).read_text()))
    }
    assert {"mammoth", "sentencex.sentencex"} <= lazy
    assert {name for name in lazy if not _is_preloaded(name)} == set()


def _imports_in_functions(tree: ast.Module) -> Iterator[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in (inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _is_preloaded(name: str) -> bool:
    return any(one == name or one.startswith(f"{name}.") for one in LAZY_IMPORTS)


async def test_a_child_splits_a_paragraph_that_is_longer_than_a_chunk(parsers: Parsers) -> None:
    long = Upload(MARKDOWN, b"# Title\n\n" + b"A sentence about wells. " * 200, source="long.md")
    [document] = await read(parsers, long)
    assert isinstance(document, ParsedDocument)
    assert len(document.pieces) > 1


@pytest.mark.parametrize("charset", ["latin-1", "shift_jis", "koi8-r", "euc-kr", "big5", "cp1250"])
async def test_a_child_reads_mail_of_any_charset(parsers: Parsers, charset: str) -> None:
    head = f"Date: 1 May 2024 10:00 +0000\nContent-Type: text/plain; charset={charset}\n\n"
    mail = Upload(MAIL, head.encode() + "plain words".encode(charset), source="a.eml")
    assert await read(parsers, mail) == list(parse(mail))


@pytest.mark.parametrize("date", ["5. März 2024", "5 марта 2024", "March 5, 2024 10:00 CET"])
async def test_a_child_reads_dates_in_words(parsers: Parsers, date: str) -> None:
    note = Upload(MARKDOWN, f"---\ndate: {date}\n---\nText.".encode(), source="a.md")
    [document] = await read(parsers, note)
    assert isinstance(document, ParsedDocument)
    assert document == next(parse(note))
    assert document.valid_time is not None


async def test_a_file_that_takes_too_long_is_rejected_and_its_reader_is_killed() -> None:
    async with open_parsers(Limits(seconds=1.5)) as parsers:
        slow, quick = await asyncio.gather(read(parsers, ENDLESS), read(parsers, NOTE))
        assert slow == [Rejected("endless.html", "takes over 1.5 seconds to be read")]
        assert isinstance(quick[0], ParsedDocument)
        assert isinstance((await read(parsers, NOTE))[0], ParsedDocument)
    assert children() == []


async def test_a_file_that_takes_too_much_memory_is_rejected_and_the_next_is_read() -> None:
    big = Upload(MARKDOWN, b"* x\n" * 2_000_000, source="big.md")
    async with open_parsers(Limits(memory_bytes=256 * MIB)) as parsers:
        results = await read(parsers, big)
        assert results == [Rejected("big.md", "takes over 256 MiB of memory to be read")]
        assert isinstance((await read(parsers, NOTE))[0], ParsedDocument)


async def test_a_file_whose_reader_dies_is_rejected_and_the_next_is_read(parsers: Parsers) -> None:
    reading = asyncio.create_task(read(parsers, ENDLESS))
    await wait_until(is_busy)
    children()[0].kill()
    assert await reading == [Rejected("endless.html", "made its reader crash (signal 9)")]
    assert isinstance((await read(parsers, NOTE))[0], ParsedDocument)


async def test_a_reader_that_dies_while_idle_fails_no_file(parsers: Parsers) -> None:
    await read(parsers, NOTE)
    [child] = children()
    os.kill(child.pid, 9)
    assert isinstance((await read(parsers, NOTE))[0], ParsedDocument)


async def test_an_idle_reader_exits() -> None:
    async with open_parsers(idle_seconds=0.05) as parsers:
        await read(parsers, NOTE)
        await wait_until(lambda: not children())


async def test_a_canceled_read_leaves_no_reader_running(parsers: Parsers) -> None:
    reading = asyncio.create_task(read(parsers, ENDLESS))
    await wait_until(is_busy)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    await wait_until(lambda: not children())


async def test_an_unreadable_mail_does_not_affect_the_others_of_its_mailbox(
    parsers: Parsers,
) -> None:
    mailbox = b"From a 10:00\n\n\n\nFrom b 11:00\nSubject: Second\n\ntext\n"
    first, second = await read(parsers, Upload(MAILBOX, mailbox, source="m.mbox"))
    assert first == Rejected("m.mbox", "has no text")
    assert isinstance(second, ParsedDocument)
    assert second.title == "Second"
