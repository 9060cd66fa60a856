"""How text is cut into chunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.chunking import MAX_CHUNK, split

texts = st.text(alphabet=st.sampled_from("ab.!? \n\t#é中"), max_size=400)


@given(texts, st.integers(5, 60), st.integers(0, 20))
def test_chunks_are_in_order_trimmed_within_the_limit_and_leave_out_only_white_space(
    text: str, limit: int, start: int
) -> None:
    spans = split(text, min(start, len(text)), limit)
    for span in spans:
        content = text[span.start : span.end]
        assert content == content.strip() != ""
        assert len(content) <= limit
    edges = [min(start, len(text)), *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    gaps = (text[left:right] for left, right in zip(edges[::2], edges[1::2], strict=True))
    assert all(gap.strip() == "" for gap in gaps)


@given(texts)
def test_a_text_within_the_limit_is_one_chunk(text: str) -> None:
    assert [text[a:b] for a, b in split(text)] == ([text.strip()] if text.strip() else [])


def test_chunks_end_between_paragraphs_where_they_can() -> None:
    text = "One.\n\n" + "Two two two.\n\n" + "Three three."
    assert [text[a:b] for a, b in split(text, limit=20)] == [
        "One.\n\nTwo two two.",
        "Three three.",
    ]


def test_long_paragraphs_are_cut_between_sentences() -> None:
    text = "First sentence here. Second one! Third, then? Fourth."
    assert [text[a:b] for a, b in split(text, limit=25)] == [
        "First sentence here.",
        "Second one! Third, then?",
        "Fourth.",
    ]


def test_long_sentences_are_cut_between_words_and_long_words_anywhere() -> None:
    text = "word " * 3 + "x" * 25
    assert [text[a:b] for a, b in split(text, limit=10)] == [
        "word word",
        "word",
        "x" * 10,
        "x" * 10,
        "x" * 5,
    ]


def test_a_heading_begins_a_chunk_once_the_one_before_is_long_enough() -> None:
    first = "a" * 600
    text = f"{first}\n\n# Heading\n\n{'b' * 300}\n\n{'c' * 900}"
    assert [text[a:b][:9] for a, b in split(text)] == ["a" * 9, "# Heading"]


def test_a_change_in_one_section_leaves_the_chunks_of_the_others() -> None:
    sections = [f"# Part {n}\n\n" + f"Sentence {n} of it. " * 60 for n in range(6)]
    before = "\n\n".join(sections)
    sections[1] = sections[1].replace("Sentence 1 of it. ", "", 3)
    after = "\n\n".join(sections)
    old = {before[a:b] for a, b in split(before)}
    new = {after[a:b] for a, b in split(after)}
    assert len(new - old) == 1


def test_a_megabyte_without_a_boundary_is_cut_in_linear_time() -> None:
    assert len(split("x" * 1_000_000)) == -(-1_000_000 // MAX_CHUNK)
    assert len(split("\n \n" * 300_000 + "x")) == 1
