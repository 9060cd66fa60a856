"""Finds the sentences of a turn that are the user's own statements.

Quoted text, code, pasted messages, text to process ("translate: …") and role play are removed
before the grammar sees the turn. Each step is one pass over at most `MAX_CHARACTERS`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.runtime.patterns import compile_linear

MAX_CHARACTERS = 20_000
"""What is read of a turn; longer turns are pasted text and their tail is ignored."""
PLACEHOLDER = "\u25a1"
"""Stands in for removed text inside a sentence; the grammar reads it as a common noun."""

_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_INLINE_CODE = compile_linear(r"`[^`\n]*`")
_TAG = re.compile(r"<[^<>\n]{0,200}>")
_URL = compile_linear(r"\b(?:https?://|www\.)\S+|\S+@\S+\.\w+")
# Read in lines without the whitespace at their ends.
_CODE_LINE = compile_linear(
    r"^(?:\$ |>>> |\.\.\. |import \w|from \S+ import|def \w|class \w+[(:]|#|//|/\*|\+\+\+|---|@@|"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d|Traceback|at \w+\.|[A-Z_]{3,}=|[{}|<])|[;{}]$|"
    r"^\w+\(.*\)$"
)
_LIST_ITEM = re.compile(r"(?:[-*•]|\d{1,9}[.)]) ")
_HEADER = re.compile(r"^(?:from|to|cc|subject|sent|date|betreff)\s{0,9}:", re.IGNORECASE)
_MESSAGE_START = re.compile(
    r"^(?:on .{5,80} wrote:|begin forwarded message:?|dear .{2,40},?)$|"
    r"^-{2,40} ?(?:original|forwarded) message",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_LABEL = re.compile(r"^\s*(@?\w[\w .'-]{0,30}?)\s{0,9}:\s")
_OWN_LABEL = re.compile(
    r"^(?:fyi|note|notes?|ps|p\.s|psa|update|correction|edit|my|our|also|about me|background|context|"
    r"remember|btw|tl;?dr|"
    r"reminder|decision|fact|heads up|quick|the|i|we|status|setup|stack|tools?|news|one more thing|"
    r"in short|result|ok|so|me)\b",
    re.IGNORECASE,
)
_WORK = (
    r"translate|summari[sz]e|rewrite|re-write|rephrase|paraphrase|proof-?read|reword|shorten|"
    r"spell-?check|fix|correct|edit|"
    r"polish|improve|simplify|format|classify|analy[sz]e|explain|review|check|parse|clean up|continue|"
    r"complete|expand|"
    r"convert|transcribe|tidy|extract|turn|make|reply to|respond to|comment on|critique|grade|"
    r"annotate|condense|render"
)
_POLITE = (
    r"(?:(?:please|pls|kindly|now|ok|okay|hey|hi|and|then|first|next|also|can|could|would|will|you|"
    r"help|me|to|i|need|want|'d|like|"
    r"your|task|is|just|quickly|let's|lets|go ahead)\b[\s,:]{0,5}){0,20}"
)
_WORK_REQUEST = re.compile(rf"^\W*{_POLITE}(?:{_WORK})\b(?!\s{0, 5},)", re.IGNORECASE)
_WORK_ANYWHERE = re.compile(
    r"\b(?:translat\w|summari[sz]\w|rewrit\w|rephras\w|paraphras\w|proof-?read|reword|spell-?check|"
    r"grammar\b|tl;?dr\b)",
    re.IGNORECASE,
)
_WORKED_OBJECT = re.compile(
    r"\b(?:this|these|following|below|text|sentences?|paragraph|e-?mail|message|grammar|draft|post|"
    r"bio|letter|note|wording|it|"
    r"typos?|english|snippet|passage|blurb|tweet|essay|abstract|cv|résumé|resume)\b",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    r"\b(?:above|previous (?:text|sentence|paragraph)|that (?:sentence|text|paragraph))\b",
    re.IGNORECASE,
)
# Read in a lead without the punctuation at its end.
_QUOTING = re.compile(
    r"\bfrom the |"
    r"\b(?:says?|said|wrote|writes|reads?|goes|claims?|claimed|asks?|asked|repl(?:y|ied)|messages?|"
    r"e-?mails?|mail|articles?|posts?|"
    r"posted|review|ad|advert|text|quotes?|excerpt|snippet|paragraph|sentences?|bio|cv|resume|résumé|"
    r"abstract|readme|docs|"
    r"documentation|ticket|story|poem|lyrics|transcript|logs?|headline|tweets?|comments?|template|"
    r"examples?|prompt|dialogue|script|"
    r"jokes?|character|persona|questions?|hypothesis|scenario|line|description|page|blurb|"
    r"letter|draft|output|input|"
    r"exercise|e\.g|joke|rumou?r|told me|tells me|copied|pasted|paste|caption|statement|press release|"
    r"interview|testimonial|"
    r"slogan|motto|title|answer this|consider|spec)$",
    re.IGNORECASE,
)
_FICTION = re.compile(
    r"^\W*(?:(?:so|ok|okay|now|just|please|hey|well|but|and|then|for fun)\b[\s,]{0,5}){0,9}"
    r"(?:imagine|pretend|suppose|supposing|assume|assuming|act as|act like|picture (?:this|that|a)|role-?play|"
    r"let(?:'s|s| us|’s) (?:say|pretend|imagine|assume|suppose|role-?play|play)|say (?:i|we|that)\b|what if|"
    r"in (?:this|my|the|a|an|our) (?:\w{1,30} )?(?:story|novel|game|book|dream|scenario|screenplay|play|"
    r"movie|film|universe|fiction|"
    r"role-?play|exercise|simulation|hypothetical|campaign|script|sketch)\b|my (?:character|"
    r"protagonist|hero|persona)\b|"
    r"for the sake of (?:the )?argument|hypothetically|you are (?:now )?(?:a|an|the)\b|"
    r"you're (?:now )?(?:a|an|the)\b|i'll be (?:a|an|the) .{0,200} and you|"
    r"(?:write|draft|compose|generate|create|invent|make up|tell) (?:me |us )?(?:a|an|the|some|"
    r"another)? ?(?:\w{1,30} ){0,3}"
    r"(?:story|poem|dialogue|monologue|persona|user story|scene|song|haiku|example|letter|email|"
    r"e-mail|bio|cover letter|profile|"
    r"tweet|post|message|paragraph|joke|script|testimonial|review|essay|blurb|sentence|sentences)\b)",
    re.IGNORECASE,
)
_GAME = re.compile(
    r"\b(?:role-?play(?:ing)?|pretend(?:ing)?|let(?:'s|’s|s) play|play the role|stay in character|improv)\b",
    re.IGNORECASE,
)
_GAME_OVER = re.compile(
    r"\b(?:end of (?:the )?(?:role-?play|game|story|scene)|back to reality|out of character|"
    r"stop (?:the )?(?:role-?play|pretending|game)|"
    r"role-?play (?:is )?over|game over|enough pretending|for real now|in real life|seriously now)\b",
    re.IGNORECASE,
)
_NOT_MEANT = re.compile(
    r"\bsaid (?:nobody|no one|no-one) ever\b|\b(?:just|only) kidding\b|\bjk\b|\s/s\W{0,9}$|\bnot!\W{0,9}$",
    re.IGNORECASE,
)
"""What takes a sentence back as irony."""
_ABBREVIATION = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|prof|st|vs|etc|e\.g|i\.e|approx|no|fig|jr|sr)|\b[A-Z])\.$", re.IGNORECASE
)
_COMPANY_END = re.compile(r"\b(?:inc|ltd|co|corp|llc)\.$", re.IGNORECASE)
_END = re.compile(r"[.!?…]+[\"')\]]*|\n+")
_COLON = re.compile(r":(?=\s|$)")
_ENDS_ANYWAY = re.compile(r"\b(?:etc|no)\.$")
# Characters of a sentence that are read to tell an initial from the end of the sentence.
_LOOKBACK = 200


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    question: bool
    """Whether it ends with a question mark."""


@dataclass(slots=True)
class OwnText:
    """The sentences that a user states; tracks role play across turns."""

    playing: bool = False

    def sentences(self, turn: str) -> list[Sentence]:
        text = _without_pasted(turn[:MAX_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n"))
        return list(self._own(list(_split(text))))

    def _own(self, sentences: list[Sentence]) -> Iterator[Sentence]:
        kept: list[Sentence] = []
        for place, sentence in enumerate(sentences):
            text = sentence.text
            if self.playing:
                self.playing = not _GAME_OVER.search(text)
                continue
            if _NOT_MEANT.search(text):
                continue
            if _FICTION.match(text):
                self.playing = bool(_GAME.search(text))
                break
            if _WORK_REQUEST.match(text) or (sentence.question and _WORK_ANYWHERE.search(text)):
                if _ABOVE.search(text):
                    kept.clear()
                    continue
                if (
                    _WORKED_OBJECT.search(text)
                    and PLACEHOLDER not in text
                    and place + 1 < len(sentences)
                ):
                    break
                continue
            kept.append(sentence)
        yield from kept


def _without_pasted(text: str) -> str:
    """Removes code, quotations and text that is introduced as another person's or as raw material."""
    text = _without_code(text)
    text = _without_quotes(text)
    text = _URL.sub(PLACEHOLDER, _TAG.sub(" ", text))
    return _without_announced(text)


def _without_code(text: str) -> str:
    lines: list[str] = []
    fenced = False
    listed = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            lines.append("")
            continue
        stripped = line.strip()
        if _MESSAGE_START.match(stripped):
            break
        if fenced or _is_indented(line) or _is_code_or_header(stripped):
            lines.append("")
            continue
        bullet = _BULLET.match(line)
        previous = lines[-1].rstrip() if lines else ""
        if bullet and (listed or previous.endswith(":")):
            separator = " " if previous.endswith(":") else ", "
            lines[-1] = previous.rstrip(",;.") + separator + line[bullet.end() :].strip()
            listed = True
            continue
        listed = False
        rest = line[bullet.end() :] if bullet else line
        if (
            not bullet
            and previous
            and not previous.endswith((".", "!", "?", ":", ";"))
            and line[:1].islower()
        ):
            lines[-1] = previous + " " + line.strip()
            continue
        lines.append(rest)
    return _INLINE_CODE.sub(PLACEHOLDER, "\n".join(lines))


def _is_indented(line: str) -> bool:
    return line.startswith(("    ", "\t")) and not _LIST_ITEM.match(line.lstrip())


def _is_code_or_header(stripped: str) -> bool:
    return (
        stripped.startswith(">")
        or _CODE_LINE.search(stripped) is not None
        or _HEADER.match(stripped) is not None
    )


_CLOSING = {"“": "”", "„": "“”", "«": "»", "‘": "’", '"': '"', "'": "'", "‹": "›", "「": "」"}


def _without_quotes(text: str) -> str:
    """Replaces each quotation with a placeholder; an unclosed one ends with its paragraph."""
    kept: list[str] = []
    place = 0
    length = len(text)
    limit = 0
    while place < length:
        character = text[place]
        closing = _CLOSING.get(character)
        before = text[place - 1] if place else " "
        opens = closing is not None and not before.isalnum()
        if character == '"' and before.isdigit():
            opens = False
        if not opens or closing is None:
            kept.append(character)
            place += 1
            continue
        single = character in "'‘"
        if limit <= place:
            paragraph = text.find("\n\n", place + 1)
            limit = length if paragraph < 0 else paragraph
        end = _closing_place(text, place + 1, limit, closing, single)
        if end is None and single:
            kept.append("'")
            place += 1
            continue
        kept.append(f" {PLACEHOLDER} ")
        ends_sentence = end is not None and text[end - 1] in ".!?"
        place = limit if end is None else end + 1
        if ends_sentence and text[place : place + 2].strip()[:1].isupper():
            kept.append(". ")
    return "".join(kept)


def _closing_place(text: str, start: int, limit: int, closing: str, single: bool) -> int | None:
    if single:
        limit = min(limit, start + 400)
    for place in range(start, limit):
        if text[place] in closing and place > start:
            after = text[place + 1] if place + 1 < len(text) else " "
            if not single or (not after.isalnum() and not text[place - 1].isspace()):
                return place
    return None


def _without_announced(text: str) -> str:
    """Removes the text after "translate:", "Tom wrote:", "Ravi:" and similar."""
    kept: list[str] = []
    skipping = False
    lines = text.split("\n")
    for line in lines:
        if skipping:
            if not line.strip():
                skipping = False
            continue
        colon = _announcing_colon(line)
        if colon is None:
            kept.append(line)
            continue
        lead = line[:colon]
        sentence_start = max(lead.rfind(". "), lead.rfind("! "), lead.rfind("? ")) + 1
        said_before, lead = lead[:sentence_start], lead[sentence_start:].strip()
        if _WORK_REQUEST.match(lead) or _WORK_ANYWHERE.search(lead):
            kept.append(said_before)
            break
        if _FICTION.match(lead):
            kept.append(line)
            break
        label = _LABEL.match(line.rstrip())
        foreign_label = (
            label is not None
            and not _OWN_LABEL.match(label.group(1))
            and _is_name_label(label.group(1))
        )
        if _QUOTING.search(_without_final_punctuation(lead)) or foreign_label:
            kept.append(said_before)
            skipping = not foreign_label or not line[colon + 1 :].strip()
            continue
        kept.append(line)
    return "\n".join(kept)


def _is_name_label(label: str) -> bool:
    """Whether a label names a speaker or a kind of text: one word, or a few with capitals."""
    words = label.split()
    return len(words) == 1 or (
        len(words) <= 3 and all(word[0].isupper() or word[0] == "@" for word in words)
    )


def _without_final_punctuation(text: str) -> str:
    end = len(text)
    while end and not (text[end - 1].isalnum() or text[end - 1] == "_"):
        end -= 1
    return text[:end]


def _announcing_colon(line: str) -> int | None:
    found = _COLON.search(line)
    return found.start() if found else None


def _split(text: str) -> Iterator[Sentence]:
    start = 0
    for match in _END.finditer(text):
        mark, end = match.group(), match.end()
        if mark[0] != "\n" and not text[end : end + 1].isspace() and end < len(text):
            continue
        if mark.startswith("."):
            before = text[max(start, match.start() - 12) : match.start() + 1]
            following = text[end : end + 2].strip()
            if _COMPANY_END.search(before) and (not following or not following[0].isupper()):
                continue
            if _ABBREVIATION.search(before) and not _ends_anyway(text, start, match):
                continue
        sentence = text[start:end].strip()
        start = end
        if sentence:
            yield Sentence(sentence, "?" in mark)
    rest = text[start:].strip()
    if rest:
        yield Sentence(rest, False)


def _ends_anyway(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether an abbreviation or a single capital letter also ends its sentence."""
    following = text[match.end() : match.end() + 12].strip()
    if not following:
        return True
    letter = text[match.start() - 1]
    alone = letter.isupper() and (match.start() < 2 or not text[match.start() - 2].isalnum())
    if alone:
        words = text[max(start, match.start() - _LOOKBACK) : match.start()].split()
        initial = len(words) < 2 or words[-2][:1].isupper()
        return not initial
    before = text[max(start, match.start() - 5) : match.start() + 1]
    return _ENDS_ANYWAY.search(before) is not None and following[0].isupper()
