"""Every function of the product that reads a text takes time that grows linearly with it."""

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from services.agent_orchestrator.agent.planner.dates.expressions import MAX_READ, find_times
from services.agent_orchestrator.agent.planner.follow_up import asked_parts
from services.agent_orchestrator.agent.planner.question import Clock, read_question
from services.agent_orchestrator.agent.planner.routing import plan
from services.agent_orchestrator.agent.toolsets import EXPECTED
from services.agent_orchestrator.entity_memory.extraction import KnownNames, read_turns
from services.agent_orchestrator.entity_memory.turns import MAX_CHARACTERS
from services.agent_orchestrator.ingest.content_types import (
    HTML,
    JSON_LINES,
    MAIL,
    MAILBOX,
    MARKDOWN,
    MESSAGES,
    PLAIN,
)
from services.agent_orchestrator.ingest.documents import Upload
from services.agent_orchestrator.ingest.formats.parsing import parse
from services.agent_orchestrator.typed_memory.summary import summarize
from services.graph_query.core.tokens import tokenize
from services.graph_query.local_extraction.extract import extract
from services.graph_query.local_extraction.gazetteer import Gazetteer
from tests.pumps import general_pumps
from tests.unit.linear_time.growth import slow_texts
from tests.unit.linear_time.product import text_readers

_SIZE = 8_000
_PARTS = 6
_CLOCK = Clock(datetime(2026, 5, 4, tzinfo=UTC), UTC)
_KNOWN = KnownNames.load()
_TOOLS = {tool for tools in EXPECTED.values() for tool in tools}


@pytest.mark.parametrize("part", range(_PARTS))
def test_a_function_that_reads_a_text_takes_time_that_grows_linearly(part: int) -> None:
    slow = {
        name: found
        for name, function in text_readers()[part::_PARTS]
        if (found := slow_texts(inspect.unwrap(function), general_pumps, _SIZE))
    }

    assert slow == {}


def _understood(text: str) -> None:
    for part in asked_parts(text):
        plan([read_question(part, (), _CLOCK)], _TOOLS)


def _extracted(text: str) -> None:
    extract("A title", tokenize(text), Gazetteer.of({"ledger service": ()}))


def _parsed(content_type: str, text: str) -> None:
    for _ in parse(Upload(data=text.encode(), content_type=content_type, document_id="a")):
        pass


@pytest.mark.parametrize(
    ("read", "size"),
    [
        pytest.param(lambda text: read_turns([text], _KNOWN), MAX_CHARACTERS, id="extraction"),
        pytest.param(_understood, MAX_READ, id="planner"),
        pytest.param(lambda text: find_times(text, _CLOCK.now, UTC), MAX_READ, id="dates"),
        pytest.param(lambda text: summarize([text]), _SIZE, id="summary"),
        pytest.param(_extracted, _SIZE, id="local extraction"),
        *[
            pytest.param(partial(_parsed, kind), _SIZE, id=kind)
            for kind in (PLAIN, MARKDOWN, HTML, JSON_LINES, MESSAGES, MAIL, MAILBOX)
        ],
    ],
)
def test_a_whole_text_is_read_in_time_that_grows_linearly(
    read: Callable[[str], Any], size: int
) -> None:
    assert slow_texts(read, general_pumps, size) == []
