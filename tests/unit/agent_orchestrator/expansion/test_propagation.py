"""Propagation over small graphs: the reached passages, their order and paths, and edge cases."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import pytest

from services.agent_orchestrator.expansion.propagation import (
    ABOUT,
    KEPT,
    MAX_ABOUT,
    NAME,
    PHRASE,
    Entity,
    Mention,
    Neighborhood,
    Passage,
    Propagation,
)


def graph(
    passages: Mapping[str, float],
    mentions: Iterable[tuple[str, str, int]],
    *,
    asked: Iterable[str] = (),
    seeds: Iterable[str] = (),
    frequency: Mapping[str, int] | None = None,
) -> Neighborhood:
    """Returns passages with their relevance and mentions. An entity is titled if a passage is about it."""
    rows = list(mentions)
    names = sorted({entity for _, entity, _ in rows} | set(asked))
    place = {name: number for number, name in enumerate(passages)}
    counts = {name: sum(entity == name for _, entity, _ in rows) for name in names}
    titled = {entity for _, entity, kind in rows if kind == ABOUT}
    entities = [
        Entity(name, name, (frequency or {}).get(name, counts[name]), name in titled, name in asked)
        for name in names
    ]
    return Neighborhood(
        [Passage(name, value, value) for name, value in passages.items()],
        entities,
        [Mention(place[one], names.index(entity), kind) for one, entity, kind in rows],
        [place[one] for one in seeds],
    )


def order(around: Neighborhood, *, evidence: bool = True) -> list[str]:
    found = Propagation(around).ordered(evidence=evidence)
    return [around.passages[one.passage].id for one in found]


# A film, its director, the director's mother (who is asked for), and a passage that is only similar to the question.
BRIDGE = graph(
    {"film": 0.6, "similar": 0.5, "weak": 0.3, "director": 0.2, "mother": 0.25, "far": 0.1},
    [
        ("film", "The Film", ABOUT),
        ("film", "Anna Bell", NAME),
        ("similar", "Another Film", ABOUT),
        ("director", "Anna Bell", ABOUT),
        ("director", "Karla Bell", NAME),
        ("mother", "Karla Bell", ABOUT),
        ("far", "Somebody", ABOUT),
    ],
    asked=["The Film"],
    seeds=["film", "similar", "weak"],
)


def test_a_passage_that_a_seed_names_comes_before_one_that_is_only_similar() -> None:
    assert order(BRIDGE)[:2] == ["film", "director"]
    assert order(BRIDGE).index("director") < order(BRIDGE).index("similar")


def test_an_unreachable_passage_is_not_listed() -> None:
    assert "far" not in order(BRIDGE)


def test_values_decrease_along_the_list_and_are_not_negative() -> None:
    values = [one.value for one in Propagation(BRIDGE).ordered(evidence=True)]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0


def test_evidence_raises_passages_about_entities_that_a_relevant_passage_names() -> None:
    with_evidence = {
        BRIDGE.passages[one.passage].id: one.value
        for one in Propagation(BRIDGE).ordered(evidence=True)
    }
    without = {
        BRIDGE.passages[one.passage].id: one.value
        for one in Propagation(BRIDGE).ordered(evidence=False)
    }
    assert with_evidence["director"] > without["director"]
    assert with_evidence["similar"] == pytest.approx(without["similar"])


def test_a_path_starts_at_an_entity_of_the_question_or_at_a_seed() -> None:
    walk = Propagation(BRIDGE)
    place = {one.id: number for number, one in enumerate(BRIDGE.passages)}
    way = walk.way(place["mother"])
    assert way.seed == place["film"]
    assert [BRIDGE.entities[hop.entity].name for hop in way.hops] == ["Anna Bell", "Karla Bell"]
    assert [BRIDGE.passages[hop.passage].id for hop in way.hops] == ["director", "mother"]
    assert all(0 < hop.weight <= 1 for hop in way.hops)
    asked = walk.way(place["film"])
    assert asked.seed is None
    assert BRIDGE.entities[asked.entity or 0].name == "The Film"


def test_propagation_ends_on_a_cycle() -> None:
    ring = [
        (f"p{number}", f"E{other}", kind)
        for number in range(4)
        for other, kind in ((number, ABOUT), ((number + 1) % 4, NAME))
    ]
    around = graph(dict.fromkeys(["p0", "p1", "p2", "p3"], 0.3), ring, seeds=["p0"])
    walk = Propagation(around)
    assert order(around)[0] == "p0"
    assert sorted(order(around)) == ["p0", "p1", "p2", "p3"]
    assert len(walk.way(3).hops) <= 3


def test_a_too_frequent_entity_leads_only_to_passages_about_it() -> None:
    rows = [("seed", "Hub", NAME), ("hub", "Hub", ABOUT), ("other", "Hub", NAME)]
    around = graph(
        {"seed": 0.5, "hub": 0.2, "other": 0.4}, rows, seeds=["seed"], frequency={"Hub": 10_000}
    )
    assert order(around) == ["seed", "hub"]


def test_only_the_most_relevant_passages_about_a_name_are_followed() -> None:
    count = 2 * MAX_ABOUT
    passages = {f"p{number:02}": number / 100 for number in range(count)} | {"seed": 0.9}
    rows = [(name, "Name", ABOUT) for name in passages if name != "seed"]
    around = graph(passages, [*rows, ("seed", "Name", NAME)], seeds=["seed"])
    reached = set(order(around)) - {"seed"}
    assert reached == {f"p{number:02}" for number in range(MAX_ABOUT, count)}


def test_a_rare_name_in_the_question_counts_more_than_a_frequent_one() -> None:
    around = graph(
        {"rare": 0.3, "frequent": 0.3},
        [("rare", "Rare Name", ABOUT), ("frequent", "Frequent Name", ABOUT)],
        asked=["Rare Name", "Frequent Name"],
        seeds=["rare", "frequent"],
        frequency={"Rare Name": 1, "Frequent Name": 18},
    )
    assert order(around) == ["rare", "frequent"]


def test_names_known_only_from_facts_weigh_as_little_as_phrases() -> None:
    def ranked(kind: int) -> float:
        around = graph(
            {"seed": 0.5, "title": 0.2, "word": 0.2},
            [
                ("seed", "Title", NAME),
                ("title", "Title", ABOUT),
                ("seed", "word", kind),
                ("word", "word", kind),
            ],
            seeds=["seed"],
        )
        found = Propagation(around).ordered(evidence=False)
        return next(one.value for one in found if around.passages[one.passage].id == "word")

    assert ranked(NAME) == pytest.approx(ranked(PHRASE))


def test_mentions_in_seeds_and_followed_mentions_are_counted() -> None:
    around = graph(
        {"seed": 0.5, "other": 0.2},
        [("seed", "Shared", NAME), ("other", "Shared", NAME), ("seed", "Hub", NAME)],
        seeds=["seed"],
        frequency={"Hub": 10_000},
    )
    assert Propagation(around).followed(around.seeds) == (2, 1)


def test_an_empty_neighborhood_reaches_nothing() -> None:
    assert Propagation(Neighborhood([], [], [], [])).ordered(evidence=True) == []


def test_passages_without_mentions_keep_the_order_of_their_relevance() -> None:
    around = graph({"b": 0.3, "a": 0.5, "c": 0.1}, [], seeds=["a", "b", "c"])
    assert order(around)[:2] == ["a", "b"]


def test_the_largest_neighborhood_takes_less_than_two_seconds() -> None:
    count, each = 2_000, 12
    passages = {f"p{number}": (number % 97) / 100 for number in range(count)}
    rows = [
        (f"p{number}", f"E{(number * 7 + other * 13) % 900}", NAME)
        for number in range(count)
        for other in range(each)
    ]
    around = graph(passages, dict.fromkeys(rows), seeds=["p96", "p95"])
    began = time.process_time()
    found = Propagation(around).ordered(evidence=True)
    assert len(found) <= KEPT
    assert time.process_time() - began < 2.0


def test_a_frequent_name_known_only_from_facts_is_not_followed() -> None:
    rows = [("seed", "committee", NAME), ("other", "committee", NAME)]
    passages = {"seed": 0.5, "other": 0.4}
    for frequency, reached in ((2, ["other", "seed"]), (7, ["seed"])):
        around = graph(passages, rows, seeds=["seed"], frequency={"committee": frequency})
        assert sorted(order(around)) == reached
