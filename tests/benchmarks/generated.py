"""A generated corpus for runs without a data folder; equal seeds generate equal passages and questions.

People work for companies in towns, and passages name related ones, so that both tiers have something to find.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from tests.benchmarks.uploading import Text
from tests.evals.datasets import Dataset, Document, Question


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FIRST = _words(
    "Alma Bruno Clara Dario Elin Farid Greta Henrik Ines Jonas Katya Lorenz Mira Nils Oda Pavel"
)
_LAST = _words(
    "Abend Birk Castell Dorn Ekholm Falk Gerber Holt Iversen Jansky Kessler Lund Moreau Novak Orban"
)
_STEM = _words(
    "Aster Boreal Cinder Delta Ember Fjord Garnet Harbor Indigo Juniper Kestrel Lumen Marble"
)
_TRADE = _words("Optics Shipping Foundry Robotics Textiles Glass Energy Press Motors Instruments")
_TOWN = _words("Arnsted Belmora Corvick Dunhaven Eskholm Farrow Glenmoor Halvik Istvar Kolding")
_THING = _words("turbine lens ledger engine loom compass furnace archive harbour crane telescope")
_SENTENCES = 4
_DEED = _words("designed repaired sold inspected documented financed")


def generated(documents: int = 1_000, questions: int = 200, seed: int = 1) -> Dataset:
    """Generates distinct passages, and questions that each need a person's passage and that of the company."""
    chance = random.Random(seed)  # noqa: S311
    people = [f"{first} {last}" for first, last in itertools.product(_FIRST, _LAST)]
    firms = [f"{stem} {trade}" for stem, trade in itertools.product(_STEM, _TRADE)]
    chance.shuffle(people)
    made = [_firm(place, name, chance) for place, name in enumerate(firms[: documents // 4])]
    employer = {}
    for place in range(documents - len(made)):
        name = people[place % len(people)] + (
            "" if place < len(people) else f" {place // len(people) + 1}"
        )
        employer[f"g{len(made)}"] = firm = chance.randrange(min(len(firms), documents // 4))
        made.append(_person(len(made), name, firms[firm], chance))
    asked = chance.sample(sorted(employer), min(questions, len(employer)))
    titles = {document.id: document.title for document in made}
    return Dataset(made, [_question(each, titles[each], f"g{employer[each]}") for each in asked])


def _firm(place: int, name: str, chance: random.Random) -> Document:
    town, year = chance.choice(_TOWN), chance.randint(1880, 2015)
    text = (
        f"{name} is a company based in {town}, founded in {year}. "
        f"{name} is known for its {chance.choice(_THING)}. "
        f"The works in {chance.choice(_TOWN)} closed in {chance.randint(2016, 2024)}."
    )
    return Document(f"g{place}", name, text)


def _person(place: int, name: str, firm: str, chance: random.Random) -> Document:
    text = (
        f"{name} has worked for {firm} since {chance.randint(1990, 2024)}. "
        f"Born in {chance.choice(_TOWN)}, {name} {chance.choice(_DEED)} a {chance.choice(_THING)} "
        f"for {chance.choice(_STEM)} {chance.choice(_TRADE)}. "
        f"Later {name} {chance.choice(_DEED)} the {chance.choice(_THING)} of {chance.choice(_TOWN)}."
    )
    return Document(f"g{place}", name, text)


def _question(person: str, name: str, firm: str) -> Question:
    text = f"In which town is the company based that {name} works for?"
    return Question(f"q-{person}", text, {person: 1.0, firm: 1.0})


def new_queries(corpus: Dataset, seed: int) -> Iterator[str]:
    """Yields an endless sequence of distinct questions about the corpus: two titles in a phrase each."""
    chance = random.Random(seed)  # noqa: S311
    titles = [document.title for document in corpus.documents]
    phrases = (
        "What links {} and {}?",
        "Was {} ever in the same place as {}?",
        "Who knew both {} and {}?",
        "Which came first, {} or {}?",
        "How did {} influence {}?",
    )
    seen: set[str] = set()
    while True:
        text = chance.choice(phrases).format(*chance.sample(titles, 2))
        if text in seen:
            text = f"{text} ({len(seen)})"
        seen.add(text)
        yield text


def invented_sentences(seed: int) -> Iterator[str]:
    """Yields an endless sequence of statements about generated people and companies; some repeat."""
    chance = random.Random(seed)  # noqa: S311
    while True:
        who = f"{chance.choice(_FIRST)} {chance.choice(_LAST)}"
        firm = f"{chance.choice(_STEM)} {chance.choice(_TRADE)}"
        what = f"{chance.choice(_DEED)} the {chance.choice(_THING)} of {chance.choice(_TOWN)}"
        yield f"{who} {what} for {firm} in {chance.randint(1880, 2024)}."


def invented_passages(name: str, count: int, seed: int) -> list[Text]:
    """Generates passages of a few statements, as long as those of public sets; `name` is the prefix of their ids."""
    statements = invented_sentences(seed)
    return [
        Text(
            f"{name}-{place}",
            f"{name.title()} {place}",
            " ".join(itertools.islice(statements, _SENTENCES)),
        )
        for place in range(count)
    ]
