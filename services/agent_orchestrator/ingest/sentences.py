"""Where sentences end, by a library that knows abbreviations, quotations and other scripts' full stops."""

from __future__ import annotations

from collections.abc import Iterator

# The library works on a text at once and tells of it at length: this keeps what it holds small.
_WINDOW = 64 * 1024


def sentence_ends(text: str, language: str = "en") -> Iterator[int]:
    """The offset after each sentence of `text` but the last, white space after a sentence belonging to it."""
    # Loaded with the first long text: most processes that could cut one never do.
    from sentencex.sentencex import get_sentence_boundaries  # noqa: PLC0415

    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW]
        ends = [found["end_index"] for found in get_sentence_boundaries(language, window)]
        # The last sentence of a window may go on in the next one, unless it fills the window.
        used = ends[:-1] if len(window) == _WINDOW and len(ends) > 1 else ends
        yield from (start + end for end in used if start + end < len(text))
        start += used[-1] if used and used[-1] > 0 else len(window)
