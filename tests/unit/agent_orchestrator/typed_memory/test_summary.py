"""Summaries without a language model: the most informative sentences of several texts, in order and each once."""

from __future__ import annotations

from services.agent_orchestrator.typed_memory.summary import (
    MAX_CHARACTERS,
    MAX_SENTENCES,
    summarize,
)


def test_a_short_session_is_summarized_by_all_its_sentences() -> None:
    texts = ["The checkout failed. We looked at the pool.", "The pool was too small."]
    assert summarize(texts) == (
        "The checkout failed.\nWe looked at the pool.\nThe pool was too small."
    )


def test_a_repeated_sentence_appears_once() -> None:
    assert summarize(["The pool was too small.", "The pool was too small."]) == (
        "The pool was too small."
    )


def test_the_topic_is_kept_and_an_aside_is_left_out() -> None:
    about = [
        "Checkout requests time out.",
        "The checkout pool is empty.",
        "Requests wait for the pool.",
        "The orders database limits the pool.",
        "Checkout shares the orders database.",
        "Requests to orders pile up.",
        "A larger pool lets checkout requests through.",
    ]
    summary = summarize([*about, "Lunch arrived late."]).splitlines()
    assert len(summary) == MAX_SENTENCES
    assert summary == [line for line in about if line in summary]


def test_a_long_session_has_a_short_summary() -> None:
    texts = [
        f"Step {number} changed the setting {'x' * 300} of machine {number}."
        for number in range(50)
    ]
    assert len(summarize(texts)) <= MAX_CHARACTERS


def test_text_without_sentence_punctuation_is_one_sentence() -> None:
    assert (
        summarize(["no full stop", "另一个句子。第二句。"]) == "no full stop\n另一个句子。第二句。"
    )
