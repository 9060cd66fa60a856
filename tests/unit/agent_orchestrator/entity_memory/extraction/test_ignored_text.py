"""Nothing is saved from text that is not the user's own statement, and no text makes the extractor fail."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.agent_orchestrator.entity_memory.extraction import (
    Conversation,
    KnownNames,
    read_turns,
)
from services.agent_orchestrator.entity_memory.extraction.own_text import MAX_CHARACTERS, OwnText

KNOWN_NAMES = KnownNames.load()
STATEMENTS = (
    "I use Docker",
    "my manager is Helen Brandt",
    "we chose Kafka",
    "Ravi works at Infosys",
    "Beacon is written in Elixir",
)
WORDS = [
    *[
        "I",
        "we",
        "use",
        "Docker",
        "not",
        "and",
        ",",
        ".",
        "?",
        "that",
        "who",
        "is",
        "on",
        "with",
        "Sarah",
        ":",
        ";",
        "-",
        "(",
        ")",
        "don't",
        "my",
        "our",
        "over",
        "if",
    ],
    "'",
    '"',
    "`",
    "\n",
    "\n\n",
    "- ",
    "> ",
]


@given(st.text(max_size=400))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_without_failure(text: str) -> None:
    read_turns([text, text], KNOWN_NAMES)


@given(st.lists(st.sampled_from(WORDS), max_size=60))
@settings(max_examples=500, deadline=None)
def test_words_in_any_order_are_read_without_failure(words: list[str]) -> None:
    found = read_turns([" ".join(words)], KNOWN_NAMES)

    assert all(relationship.confidence >= 0.7 for relationship in found.relationships)


@given(
    st.sampled_from(STATEMENTS),
    st.sampled_from(['"{}"', "“{}”", "«{}»", "`{}`", "```\n{}\n```", "> {}", "‘{}’", '"{}."']),
    st.sampled_from(["{}", "Look: {}", "{}\n\nThanks", "The note: {}", "He wrote {} yesterday."]),
)
def test_text_inside_quotes_or_code_is_never_saved(statement: str, quote: str, around: str) -> None:
    quoted = quote.format(statement)
    turn = around.format(f"\n{quoted}" if quote.startswith((">", "```")) else quoted)

    assert read_turns([turn], KNOWN_NAMES).relationships == ()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_repeated_statement_is_saved_once(statement: str) -> None:
    once = read_turns([statement], KNOWN_NAMES)
    twice = read_turns([statement, statement], KNOWN_NAMES)

    assert once.relationships == twice.relationships
    assert once.entities == twice.entities
    assert len(once.relationships) == 1


@pytest.mark.parametrize(
    "unit",
    ["I use Docker and ", "a ", "Ana, ", '"', "(", "I use X. ", "that we use ", "\n> ", "'a "],
)
def test_a_turn_of_100_kb_is_read_in_bounded_time(unit: str) -> None:
    turn = unit * (100_000 // len(unit))
    started = time.process_time()

    Conversation(KNOWN_NAMES).read(turn)

    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "part",
    ["@", ".", "a@b.", " ", "A. ", "'a ", '"', "`", "<", "please ", "translate ", "- ", "a(", ")"],
)
def test_the_longest_repetition_is_read_in_well_under_a_second(part: str) -> None:
    text = f"I use {part * MAX_CHARACTERS}"
    start = time.process_time()

    OwnText().sentences(text)

    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("write to ann@acme.com, please", "write to □, please"),
        ("see https://acme.com/a?b and www.acme.com.", "see □ and □"),
        ("ask @ann or a@b", "ask @ann or a@b"),
    ],
)
def test_addresses_are_read_as_placeholders(text: str, read: str) -> None:
    assert [sentence.text for sentence in OwnText().sentences(text)] == [read]
