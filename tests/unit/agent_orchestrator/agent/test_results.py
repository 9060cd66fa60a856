"""Tool results: the capped text, parts of citations, and serialization as JSON."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic_ai import ModelMessagesTypeAdapter
from pydantic_ai.messages import ModelRequest, ToolReturnPart

from services.agent_orchestrator.agent.results import (
    MAX_CHARACTERS,
    Citation,
    ResultItem,
    ToolResult,
    capped_text,
)

CITATION = Citation(
    "d1", "Ledger", "wiki/ledger", "c1", 100, 140, "The Ledger keeps the books. Jonas owns it."
)


def test_part_of_a_citation_keeps_its_position_in_the_document() -> None:
    part = CITATION.part(28, 42)
    assert (part.start, part.end, part.quote) == (128, 142, "Jonas owns it.")


def test_text_is_truncated_between_items_and_states_the_total() -> None:
    items = [
        ResultItem("fact", f"{number} " + "x" * 300, citations=(CITATION,)) for number in range(18)
    ]
    text = capped_text("Facts:", items, 45)
    assert len(text) <= MAX_CHARACTERS
    assert "Found 45, showing the first" in text
    assert text.count("x" * 300) == text.count("Document Ledger")


def test_text_contains_at_most_twenty_items() -> None:
    text = capped_text("", [ResultItem("fact", f"fact {number}") for number in range(25)], 25)
    assert "fact 19" in text
    assert "fact 20" not in text
    assert "Found 25, showing the first 20." in text


def test_complete_text_does_not_mention_truncation() -> None:
    since = datetime(2024, 3, 1, tzinfo=UTC)
    text = capped_text("Facts:", [ResultItem("fact", "Ada leads Core.", valid_from=since)], 1)
    assert text == "Facts:\n[1] Ada leads Core. (from 2024-03-01)"


def test_a_result_survives_serialization_with_the_conversation() -> None:
    result = ToolResult(
        "search_knowledge_graph",
        "ok",
        "acme",
        items=(ResultItem("fact", "A", citations=(CITATION,)),),
    )
    part = ToolReturnPart("search_knowledge_graph", "text", "id", metadata=result)
    stored = ModelMessagesTypeAdapter.dump_json([ModelRequest(parts=[part])])
    (message,) = ModelMessagesTypeAdapter.validate_json(stored)
    restored = message.parts[0]
    assert isinstance(restored, ToolReturnPart)
    assert ToolResult.from_metadata(restored.metadata) == result
    assert ToolResult.from_metadata(None) is None
