"""The first places of an expanded list go to passages that together cover the question."""

from __future__ import annotations

from services.agent_orchestrator.expansion.coverage_selection import PLACES, cover, words
from services.agent_orchestrator.expansion.query_aware import ReachedPassage

TEXTS = {
    "river": "The Tekeze is a river in Ethiopia.",
    "again": "The Tekeze river joins the Atbara.",
    "waterfall": "The waterfall is near Bahir Dar.",
}
QUESTION = "Which waterfall is in the country of the Tekeze river?"


def reached(*names: str, step: float = 0.1) -> list[ReachedPassage]:
    return [ReachedPassage(name, 9 - place * step, 0.0, None) for place, name in enumerate(names)]


def ids(found: list[ReachedPassage]) -> list[str]:
    return [one.chunk_id for one in found]


def test_a_passage_covering_a_new_part_of_the_question_precedes_a_redundant_one() -> None:
    assert ids(cover(QUESTION, reached("river", "again", "waterfall"), TEXTS)) == [
        "river",
        "waterfall",
        "again",
    ]


def test_a_much_higher_value_outweighs_coverage() -> None:
    order = reached("river", "again", "waterfall", step=4)
    assert ids(cover(QUESTION, order, TEXTS)) == ["river", "again", "waterfall"]


def test_the_order_beyond_the_first_places_is_unchanged() -> None:
    names = [f"p{number}" for number in range(PLACES + 9)]
    assert ids(cover(QUESTION, reached(*names), {})) == names
    assert cover(QUESTION, [], {}) == []


def test_once_the_question_is_covered_weakly_supported_passages_follow_by_relevance() -> None:
    texts = {"ferry": "The ferry sails from the harbour.", "late": "It was late because of fog."}
    found = [
        ReachedPassage("ferry", 12.0, 0.9, None),
        ReachedPassage("late", 11.0, 0.7, None),
        ReachedPassage("near", 9.0, 0.1, None),
        ReachedPassage("far", 6.0, 0.1, None),
        ReachedPassage("similar", 5.0, 0.5, None),
    ]
    question = "Was the ferry from the harbour late because of fog?"
    assert ids(cover(question, found, texts)) == ["ferry", "late", "near", "similar", "far"]
    partly = {**texts, "late": "It was cold."}
    assert ids(cover(question, found, partly)) == ["ferry", "late", "near", "far", "similar"]


def test_a_question_of_common_words_keeps_the_order() -> None:
    assert ids(cover("who is it", reached("river", "waterfall"), TEXTS)) == ["river", "waterfall"]


def test_words_are_folded_and_stemmed() -> None:
    assert words("The Rivers of Cité") == words("river cite") == {"river", "cite"}
