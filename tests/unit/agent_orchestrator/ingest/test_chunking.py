"""How text is split into chunks."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.chunking import (
    MAX_CHUNK,
    Span,
    Unit,
    anchors,
    split,
)
from services.agent_orchestrator.ingest.formats.markdown import read_markdown
from services.agent_orchestrator.ingest.layout import BLOCK, Break

texts = st.text(alphabet=st.sampled_from("ab.!? \n\t#é中"), max_size=400)
breaks = st.lists(st.builds(Break, st.integers(0, 420), st.integers(1, 9)), max_size=12)
WORDS = "amber basin cedar delta ember fjord grove haven inlet jetty knoll larch".split()  # noqa: SIM905


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - the same texts each time


def prose(rng: random.Random, paragraphs: int) -> list[str]:
    """Returns random paragraphs of one to six sentences."""

    def sentence() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(5, 25))).capitalize() + "."

    return [" ".join(sentence() for _ in range(rng.randint(1, 6))) for _ in range(paragraphs)]


def contents(text: str, limit: int = MAX_CHUNK) -> list[str]:
    return [text[a:b] for a, b in split(text, limit=limit)]


@given(texts, st.integers(5, 60), st.integers(0, 20), st.none() | breaks)
def test_chunks_are_ordered_trimmed_within_the_limit_and_omit_only_whitespace(
    text: str, limit: int, start: int, breaks: list[Break] | None
) -> None:
    start = min(start, len(text))
    spans = split(text, start, limit, breaks)
    for span in spans:
        content = text[span.start : span.end]
        assert content == content.strip() != ""
        assert len(content) <= limit
    edges = [start, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    gaps = (text[left:right] for left, right in zip(edges[::2], edges[1::2], strict=True))
    assert all(gap.strip() == "" for gap in gaps)


@given(texts, breaks)
def test_a_text_within_the_limit_is_one_chunk(text: str, breaks: list[Break]) -> None:
    whole = [text.strip()] if text.strip() else []
    assert [text[a:b] for a, b in split(text, breaks=breaks)] == whole


def test_chunks_end_between_paragraphs_if_possible() -> None:
    text = "One.\n\n" + "Two two two.\n\n" + "Three three."
    assert contents(text, 20) == ["One.\n\nTwo two two.", "Three three."]


def test_long_paragraphs_are_split_between_sentences_but_not_after_abbreviations() -> None:
    text = "It began here, with Dr. Smith. Then a second one! Was there a third? There was."
    chunks = contents(text, 40)
    assert " ".join(chunks) == text
    assert chunks[0] == "It began here, with Dr. Smith."
    assert all(chunk.endswith((".", "!", "?")) for chunk in chunks)


def test_lists_without_sentences_are_split_between_lines() -> None:
    text = "\n".join(f"item number {n}" for n in range(40))
    assert all(line.startswith("item number") for line in contents(text, 100))


def test_long_lines_are_split_between_words_and_long_words_anywhere() -> None:
    chunks = contents("word " * 3 + "x" * 25, 10)
    assert "".join(chunks).replace(" ", "") == "word" * 3 + "x" * 25
    assert chunks[-3:] == ["x" * 10, "x" * 10, "x" * 5]


def test_a_heading_is_a_stronger_break_than_a_paragraph() -> None:
    text = f"{'a' * 700}\n\n# Heading\n\n{'b' * 300}\n\n{'c' * 900}"
    spans = split(text, breaks=read_markdown(text).breaks)
    assert [text[a:b][:9] for a, b in spans] == ["a" * 9, "# Heading"]


def test_a_long_text_is_split_into_chunks_of_similar_length() -> None:
    lengths = [len(chunk) for chunk in contents("A sentence of some words. " * 90)]
    assert min(lengths) > 0.5 * max(lengths)


def test_a_change_in_one_section_keeps_the_chunks_of_the_others() -> None:
    sections = [f"# Part {n}\n\n" + f"Sentence {n} of it. " * 60 for n in range(6)]
    before = "\n\n".join(sections)
    sections[1] = sections[1].replace("Sentence 1 of it. ", "", 3)
    after = "\n\n".join(sections)
    assert len(set(contents(after)) - set(contents(before))) == 1


def test_a_replaced_paragraph_changes_at_most_five_chunks() -> None:
    rng = seeded(5)
    for _ in range(100):
        paragraphs = prose(rng, 60)
        before = "\n\n".join(paragraphs)
        paragraphs[rng.randrange(60)] = rng.choice(["", "Another one.", *prose(rng, 3)])
        after = "\n\n".join(paragraphs)
        assert len(set(contents(after)) - set(contents(before))) <= 5


def test_an_edit_within_a_paragraph_usually_changes_one_chunk() -> None:
    rng = seeded(7)
    costs = []
    for _ in range(100):
        paragraphs = prose(rng, 60)
        before = "\n\n".join(paragraphs)
        place = rng.randrange(60)
        words = paragraphs[place].split()
        words[len(words) // 2] = "changed"
        paragraphs[place] = " ".join(words)
        costs.append(len(set(contents("\n\n".join(paragraphs))) - set(contents(before))))
    assert sum(costs) / len(costs) <= 1.3


@given(st.lists(st.integers(1, 30), min_size=3, max_size=60), st.integers(0, 2**16), st.data())
def test_an_edit_changes_anchors_only_within_reach(
    lengths: list[int], seed: int, data: st.DataObject
) -> None:
    reach = 40
    rng = seeded(seed)
    words = ["".join(rng.choices("abcdef", k=length)) for length in lengths]
    place = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:place], words[place].upper(), *words[place + 1 :]]
    starts = [unit.span.start for unit in _units(words)]
    edited = Span(starts[place], starts[place] + len(words[place]))
    differing = _anchors(words, reach) ^ _anchors(changed, reach)
    assert all(edited.start - reach <= starts[i] <= edited.end + reach for i in differing)


def _units(words: list[str]) -> list[Unit]:
    edges = [0]
    for word in words:
        edges.append(edges[-1] + len(word))
    return [Unit(Span(a, b), BLOCK) for a, b in pairwise(edges)]


def _anchors(words: list[str], reach: int) -> set[int]:
    return set(anchors("".join(words), _units(words), reach))


def test_a_megabyte_without_a_boundary_is_split_into_nearly_full_chunks() -> None:
    chunks = contents("x" * 1_000_000)
    assert "".join(chunks) == "x" * 1_000_000
    assert len(chunks) <= 1.01 * 1_000_000 / MAX_CHUNK
    assert len(split("\n \n" * 300_000 + "x")) == 1
