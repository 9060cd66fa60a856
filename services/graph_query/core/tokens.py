"""Text split into sentences and words with their positions, for name matching and phrase detection."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from services.graph_query.core.names import WORD, link_token
from services.runtime.markup import is_heading, text_within_markup

MAX_SENTENCE = 1_000


_PARAGRAPH = re.compile(r"\n\s{0,999}\n|\n(?=\s{0,99}(?:[-*#>•]|\d{1,9}[.)]\s))")


_END = re.compile(r"(?<=[.!?])[\"'”’)\]]{0,9}\s{1,99}(?=[\"'“‘(\[]?[^\Wa-z_])|(?<=[。！？])")


_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“])(?:[^\W\d_]|[^\W\d_]\.[^\W\d_]|Mr|Mrs|Ms|Dr|Prof|Rev|Hon|St|Sts|Mt|Ft|Gen|Col|Lt"
    r"|Sgt|Capt|Cmdr|Adm|Maj|Gov|Sen|Rep|Pres|Jr|Sr|Inc|Ltd|Co|Corp|Bros|vs|etc|cf|ca|approx|No|Nos"
    r"|Vol|Fig|Ed|al|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)\.$"
)


def split_sentences(text: str) -> list[str]:
    """Returns the text's sentences in order, not empty, up to `MAX_SENTENCE` long, without marks before them."""
    sentences: list[str] = []
    for paragraph in _PARAGRAPH.split(text):
        for part in _after_heading(paragraph):
            for sentence in _paragraph_sentences(part):
                start, end = text_within_markup(sentence)
                sentences.extend(_wrapped(sentence[start:end].strip()))
    return sentences


def _after_heading(paragraph: str) -> list[str]:
    """Returns a heading and the lines that follow it as separate parts."""
    first, _, rest = paragraph.lstrip("\n").partition("\n")
    return [first, rest] if is_heading(first) else [paragraph]


def _paragraph_sentences(paragraph: str) -> list[str]:
    sentences: list[str] = []
    start = 0
    for boundary in _END.finditer(paragraph):
        head = paragraph[start : boundary.start()]
        if _ABBREVIATION.search(head[-12:]):
            continue
        sentences.append(paragraph[start : boundary.end()].strip())
        start = boundary.end()
    sentences.append(paragraph[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _wrapped(sentence: str) -> list[str]:
    pieces: list[str] = []
    while len(sentence) > MAX_SENTENCE:
        cut = sentence.rfind(" ", 1, MAX_SENTENCE)
        cut = cut if cut > 0 else MAX_SENTENCE
        pieces.append(sentence[:cut].rstrip())
        sentence = sentence[cut:].lstrip()
    return [*pieces, sentence] if sentence else pieces


@dataclass(frozen=True, slots=True)
class TokenText:
    """One sentence: its text, and the spans and folded forms of its words."""

    text: str
    spans: list[tuple[int, int]]
    words: list[str]


def tokenize(content: str) -> list[TokenText]:
    """Returns the sentences of a text with their words."""
    return [
        _token_text(sentence) for sentence in split_sentences(unicodedata.normalize("NFC", content))
    ]


def searchable_words(sentences: list[TokenText]) -> str:
    """Returns all folded words in order, joined by single spaces; existing episodes are searched by it."""
    return " ".join(word for sentence in sentences for word in sentence.words)


def _token_text(sentence: str) -> TokenText:
    spans = [match.span() for match in WORD.finditer(sentence)]
    if sentence.isascii():
        folded = sentence.lower()
        return TokenText(sentence, spans, [folded[start:end] for start, end in spans])
    return TokenText(sentence, spans, [link_token(sentence[start:end]) for start, end in spans])
