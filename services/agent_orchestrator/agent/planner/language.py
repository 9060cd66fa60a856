"""The planner's model of English: words, sentences, content words, and whether a text is English at all."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from services.agent_orchestrator.agent.planner.wordlists import word_set
from services.agent_orchestrator.ingest.chunking import sentence_ends
from services.runtime.markup import text_within_markup

_WORD: Final = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*", re.UNICODE)
FUNCTION_WORDS: Final = word_set(
    "a an the this that these those some any each every all both no not of in on at by for from to with without into",
    "onto over under about after before during since until till through between among and or but nor so if then than",
    "as because while though although whether is was were are am be been being do does did done has have had having",
    "will would shall should can could may might must i me my mine we us our ours you your yours he him his she her",
    "hers it its they them their theirs who whom whose what which when where why how there here also too very just",
    "only still already yet again ever never now today please tell show give list find out up down off back own same",
    "other such many much more most few less least one ones s t d ll re ve m let us say says said there's",
)
# Words of a question that its answer does not repeat.
_ASKING_WORDS: Final = word_set(
    (
        "name names explain describe summarise summarize overview information info details "
        "know think mean happen happened"
    ),
    (
        "happens exactly currently present time times kind kinds type types sort thing things "
        "people person someone anyone"
    ),
    "anybody somebody everyone something anything everything reason long far often quickly soon current latest recent",
    (
        "called set sets come comes came get gets got make makes made take takes "
        "took put way ways tell responsible"
    ),
)
_ENGLISH: Final = word_set(
    (
        "the a an is are was were be do does did who what which when where why how of in on at "
        "for from to with and or not"
    ),
    (
        "has have had can could should would will this that it its they he she you i me my we "
        "our about between before after"
    ),
    "since there any all tell show please thanks hello hi",
)
_FOREIGN: Final = word_set(
    "der die das den dem des ein eine einen einem einer ist sind war waren wer wem wen wann warum wie wo woher",
    (
        "wohin welche welcher welches welchen und oder nicht mit von für auf im zum zur bei über nach seit gibt hat "
        "haben wird wurde worden ich"
    ),
    "le la les un une des du de et ou est sont était qui que quoi quel quelle quels quelles quand où pourquoi comment",
    "dans avec pour sur depuis pas nous vous ils elle el los las una del y o es son fue quién quien quiénes qué cuál",
    "cuándo cuando dónde donde por cómo como para desde il lo gli uno che chi cosa quale quando dove perché per della",
    "delle dei nel sono era stato het een van wie wat welke wanneer waar waarom hoe voor met niet zijn werd sinds os",
    "as um uma do da dos das quem onde porque qual em no na não foi på och är vem vad vilken vilka när var varför hur",
    (
        "att som av för kuka mikä mitä milloin missä miksi miten ja on oli ei jest kto co "
        "kiedy gdzie dlaczego jak nie w z"
    ),
    "bir ve kim ne nedir hangi için ile og er hvem hvad hvilken hvornår hvor hvorfor til med ikke af",
)
_IRREGULAR: Final = {
    "led": "lead", "left": "leave", "ran": "run", "built": "build", "wrote": "write", "written": "write",
    "chose": "choose", "chosen": "choose", "sent": "send", "kept": "keep", "held": "hold", "found": "find",
    "founded": "found", "began": "begin", "begun": "begin", "took": "take", "taken": "take", "bought": "buy",
    "sold": "sell", "paid": "pay", "met": "meet", "became": "become", "broke": "break", "broken": "break",
    "gave": "give", "given": "give", "spoke": "speak", "spoken": "speak", "knew": "know", "known": "know",
    "grew": "grow", "grown": "grow", "threw": "throw", "thrown": "throw", "lost": "lose", "went": "go", "gone": "go",
    "owner": "own", "owners": "own", "ownership": "own", "leader": "lead", "leaders": "lead", "user": "use",
    "users": "use", "usage": "use", "used": "use", "using": "use",
    "dependency": "depend", "dependencies": "depend", "dependent": "depend",
    "decision": "decide", "decisions": "decide", "proposal": "propose", "replacement": "replace",
    "founder": "found", "founders": "found", "author": "write", "authors": "write", "bodies": "body",
"cause": "cause", "caused": "cause", "causes": "cause", "fixed": "fix", "fixes": "fix",
}  # fmt: skip
# Suffixes and their replacements; the first match wins.
_SUFFIXES: Final = (
    ("ational", "ate"), ("isations", "is"), ("ization", "is"), ("isation", "is"), ("ically", "ic"),
    ("ments", ""), ("ment", ""), ("ings", ""), ("ing", ""), ("ies", "y"), ("ied", "y"), ("edly", ""),
    ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("ers", ""), ("er", ""), ("ors", ""),
    ("or", ""), ("ions", ""), ("ion", ""), ("eed", "eed"), ("ed", ""), ("ly", ""), ("es", ""), ("s", ""), ("e", ""),
)  # fmt: skip
# "am 3. März"
_ORDINAL: Final = re.compile(r"\W\d{1,2}\.\s{0,2}$")
_LONGEST_ORDINAL: Final = 6
_FOREIGN_SHARE: Final = 2
_MIN_STEM: Final = 3
# "partnered" loses two suffixes.
_STEM_ROUNDS: Final = 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its position in its text."""

    text: str
    start: int
    end: int


def fold(text: str) -> str:
    """Returns a text in the form in which names are compared: NFC, case-folded, single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().replace("’", "'").split())


def word_list(text: str) -> list[str]:
    """Returns the words of a text in lower case; "INC-104" and "can't" are one word each."""
    return [found[0].casefold().replace("’", "'").rstrip(".") for found in _WORD.finditer(text)]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Returns a rough stem that forms of one word share: "depends" and "depending", "owner" and "owned"."""
    word = word.removesuffix("'s").removesuffix("s'")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if any(letter.isdigit() for letter in word):
        return word
    for _ in range(_STEM_ROUNDS):
        word = _without_suffix(word)
    doubled = len(word) > _MIN_STEM and word[-1] == word[-2] and word[-1] in "bdgklmnprt"
    return word[:-1] if doubled else word


def _without_suffix(word: str) -> str:
    for suffix, ending in _SUFFIXES:
        fits = word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM
        if fits and not word.endswith("ss"):
            return word[: len(word) - len(suffix)] + ending
    return word


def content_words(text: str) -> list[str]:
    """Returns the words of a question that its answer must cover, in order, without duplicates."""
    kept = (
        word
        for word in word_list(text)
        if word not in FUNCTION_WORDS and word not in _ASKING_WORDS and len(word) > 1
    )
    return list(dict.fromkeys(kept))


def content_stems(text: str) -> frozenset[str]:
    """Returns the stems of the content words of a text."""
    return frozenset(stem(word) for word in word_list(text) if word not in FUNCTION_WORDS)


def sentences(text: str) -> list[Sentence]:
    """Returns the sentences of a text with their positions; each line ends one.

    Marks of headings, lists and emphasis around a sentence are not part of it.
    """
    found: list[Sentence] = []
    start = 0
    for line in text.splitlines(keepends=True):
        for begin, end in pairwise([0, *_sentence_ends(line), len(line)]):
            stripped = line[begin:end].strip()
            first, last = text_within_markup(stripped)
            if first < last:
                place = start + line.index(stripped, begin)
                found.append(Sentence(stripped[first:last], place + first, place + last))
        start += len(line)
    return found


def _sentence_ends(line: str) -> list[int]:
    """Returns where sentences end. In other languages than English a number with a full stop may be an ordinal."""
    ends = list(sentence_ends(line))
    if not any(_ORDINAL.search(line[max(end - _LONGEST_ORDINAL, 0) : end]) for end in ends):
        return ends
    if is_english(line):
        return ends
    return [end for end in ends if not _ORDINAL.search(line[max(end - _LONGEST_ORDINAL, 0) : end])]


def is_english(text: str) -> bool:
    """Whether the planner's rules can parse a text. Names and codes alone count as English."""
    if "¿" in text or "¡" in text:
        return False
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(1 for letter in letters if ord(letter) < 0x250)  # noqa: PLR2004 end of Latin Extended-B
    if letters and latin < len(letters) / 2:
        return False
    plain = word_list(text)
    english = sum(word.split("'")[0] in _ENGLISH for word in plain)
    foreign = sum(word.split("'")[0] in _FOREIGN and word not in _ENGLISH for word in plain)
    return foreign < _FOREIGN_SHARE or english >= foreign
