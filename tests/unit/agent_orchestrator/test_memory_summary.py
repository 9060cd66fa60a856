"""A summary without a language model: the most telling sentences of several texts, in order, none of them twice."""

from __future__ import annotations

from services.agent_orchestrator.typed_memory.summary import (
    MAX_CHARACTERS,
    MAX_SENTENCES,
    summarize,
)


def test_a_short_session_is_summed_up_by_all_it_says() -> None:
    texts = ["The checkout failed. We looked at the pool.", "The pool was too small."]
    assert summarize(texts) == (
        "The checkout failed.\nWe looked at the pool.\nThe pool was too small."
    )


def test_a_sentence_that_is_repeated_stands_there_once() -> None:
    assert summarize(["The pool was too small.", "The pool was too small."]) == (
        "The pool was too small."
    )


def test_what_the_session_is_about_is_kept_and_an_aside_is_left_out() -> None:
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


def test_text_without_an_end_of_a_sentence_is_one() -> None:
    assert (
        summarize(["no full stop", "另一个句子。第二句。"]) == "no full stop\n另一个句子。第二句。"
    )
