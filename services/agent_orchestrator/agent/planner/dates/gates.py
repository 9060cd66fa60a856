"""Rejects expressions that only look like times: plain numbers, given names, recurring days, names of documents."""

from __future__ import annotations

from typing import Final

from services.agent_orchestrator.agent.planner.dates.reader import Reader, year_number_at
from services.agent_orchestrator.agent.planner.dates.words import (
    AMBIGUOUS_MONTHS,
    DECADES,
    DOCUMENT_NOUNS,
    MONTHS,
    WEEKDAYS,
)
from services.agent_orchestrator.agent.planner.wordlists import word_set

# Words that introduce a period, in the text before it or at the start of the expression.
_LEADS: Final = word_set(
    "in on during since before after until till by of for from throughout to through around circa about between at ",
    "over within prior than up back late early mid year starting beginning all whole onwards as ahead preceding ",
    "until end start close",
)
# Words that introduce a month name. Others can precede a given name: "the mail of June".
_LEADS_OF_MONTHS: Final = word_set(
    "in during since before after until till from throughout through between prior back late early mid starting ",
    "beginning last this next end start of for",
)
_RECURRING: Final = frozenset({"every", "each", "per", "alternate", "any", "no", "another"})
_DETERMINERS: Final = word_set(
    "the a an this that these those our their its his her my your which what whose",
)
_FUNCTION_WORDS: Final = _DETERMINERS | word_set(
    "is was were are am be been being do does did has have had will would can could should may might must who whom ",
    "when where why how and or but nor so if than then in on at of for from to by with without into onto over under ",
    "about after before during since until till we i you they he she it me us them not there here as also still",
)
# Nouns that a preceding number counts.
_COUNTED: Final = word_set(
    "ms seconds minutes hours days weeks months words rows users customers lines percent requests items euros dollars ",
    "people times characters tokens bytes km kilometers meters miles per kg watts volts rpm hits calls nodes records ",
    "messages points pages files tests shards employees orders tickets units",
)
# A four-digit number after one of these is an amount.
_LEADS_OF_NUMBERS: Final = frozenset({"at", "to", "over", "up", "within", "than", "as"})
_AMOUNTS: Final = word_set(
    "total sum maximum minimum limit count cost price average size port number capacity value score rate",
)
_DURATIONS: Final = word_set(
    "timeout timeouts interval delay window limit deadline budget period cap pause retry wait buffer percentile mark",
)
# "the 90s" needs its article; so do these parts of a name.
_NAMED_DAYS: Final = frozenset(
    {"black", "good", "cyber", "ash", "palm", "easter", "super", "casual", "shrove"}
)
_ENDINGS: Final = frozenset({"", "?", ".", "!", ",", ";", ":", ")"})
_ATTRIBUTE_WORDS: Final = 3


def is_plausible(reader: Reader, place: int, behind: int, kind: str) -> bool:
    """Whether the expression is a time and not a number, a name or a recurring day."""
    if reader.text(place - 1) in _RECURRING or _is_any_weekday(reader, place, behind):
        return False
    core = _core_start(reader, place, behind)
    if _counts_things(reader, behind) or (
        reader.text(core) == "now" and reader.text(place) == "by"
    ):
        return False
    if behind - core != 1:
        return _is_free_name(reader, core, behind)
    lead = reader.text(core - 1)
    if lead in _DETERMINERS and reader.kind(core) == "number":
        return False
    lead = reader.text(core - 2) if lead == "the" else lead
    is_month = reader.text(core) in MONTHS
    return (is_month and kind != "range" and lead != "by") or _is_time_alone(reader, core, lead)


def _is_any_weekday(reader: Reader, place: int, behind: int) -> bool:
    """Whether it means any day of that name: "on a Friday evening"."""
    named = any(reader.text(at) in WEEKDAYS for at in range(place, behind))
    return named and "a" in (reader.text(place - 1), reader.text(place), reader.text(place + 1))


def names_document(reader: Reader, place: int, behind: int) -> bool:
    """Whether the date names a document: "the 2023 incident report", "the minutes of 5 March"."""
    return _precedes_document(reader, place, behind) or _follows_document(reader, place)


def _core_start(reader: Reader, place: int, behind: int) -> int:
    """Returns where the period itself starts, after prepositions and an article."""
    core = place
    while core < behind - 1 and (reader.text(core) in _LEADS or reader.text(core) == "the"):
        core += 1
    return core


def _is_time_alone(reader: Reader, core: int, lead: str) -> bool:
    """Whether one token names a time, judged by the preceding word."""
    kind, text = reader.kind(core), reader.text(core)
    if kind in {"number", "clock", "ordinal"} or text in {"noon", "midnight", "midday"}:
        return lead in _LEADS and _is_dated_number(reader, core, lead)
    if text in AMBIGUOUS_MONTHS and text in MONTHS:
        return lead in _LEADS_OF_MONTHS
    if text in WEEKDAYS:
        return _is_weekday(reader, core, lead)
    if kind == "decade" or text in DECADES:
        return reader.text(core + 1) not in _DURATIONS
    return kind not in {"quarter", "half", "week"} or not _follows_name(reader, core)


def _is_dated_number(reader: Reader, core: int, lead: str) -> bool:
    """Whether a number after a preposition is a year, a day of the month or a time of day."""
    if reader.kind(core) == "number":
        return _is_year(reader, core, lead)
    return reader.kind(core) != "ordinal" or _ends_phrase(reader, core + 1)


def _is_year(reader: Reader, core: int, lead: str) -> bool:
    """Whether a four-digit number is a year: "in 2023", not "a total of 2023" or "1 of 2000"."""
    if lead in _LEADS_OF_NUMBERS:
        return False
    return lead != "of" or (
        reader.kind(core - 2) == "word" and reader.text(core - 2) not in _AMOUNTS
    )


def _ends_phrase(reader: Reader, place: int) -> bool:
    """Whether no noun follows: "on the 5th" is a day, "on the 5th floor" is not."""
    return reader.kind(place) not in {"word", "opaque"} or reader.text(place) in _FUNCTION_WORDS


def _is_weekday(reader: Reader, core: int, lead: str) -> bool:
    if lead in _NAMED_DAYS or (
        reader.text(core + 1) in {"s", "."} and reader.text(core + 2) == "com"
    ):
        return False
    return (
        lead in _LEADS or reader.text(core + 1) in _ENDINGS or reader.kind(core + 1) == "possessive"
    )


def _is_free_name(reader: Reader, core: int, behind: int) -> bool:
    """Whether several tokens name a time without a preposition: "Audi Q3 2024" is a car."""
    return (
        not (reader.kind(core) in {"quarter", "half"} and _follows_name(reader, core))
        and behind > core
    )


def _follows_name(reader: Reader, core: int) -> bool:
    before = reader.token(core - 1)
    is_name = before.kind == "word" and before.capitalised and core > 1
    return is_name and before.text not in _LEADS and before.text not in _FUNCTION_WORDS


def _counts_things(reader: Reader, behind: int) -> bool:
    """Whether the expression ends in a number that counts the following noun: "in 2000 rows"."""
    year = year_number_at(reader, behind - 1)
    if year is None or reader.kind(behind) not in {"word", "dash"}:
        return False
    following = reader.text(behind)
    if following in {"to", "and", "or", "-", "–"} and reader.kind(behind + 1) in {
        "number",
        "opaque",
    }:
        return True
    is_round = year[0] % 100 == 0
    return following in _COUNTED or (
        is_round and following.endswith("s") and following not in _FUNCTION_WORDS
    )


def _precedes_document(reader: Reader, place: int, behind: int) -> bool:
    possessive = reader.kind(behind) == "possessive"
    first = behind + 1 if possessive else behind
    led = reader.text(place) in _LEADS or reader.text(place - 1) in _LEADS
    determined = reader.text(place - 1) in _DETERMINERS or any(
        reader.text(at) == "the" for at in range(place, behind)
    )
    if led and not (possessive or determined):
        return False
    for at in range(first, first + _ATTRIBUTE_WORDS + 1):
        text = reader.text(at)
        if reader.kind(at) not in {"word", "opaque"} or text in _FUNCTION_WORDS:
            return False
        if _is_document(text):
            return True
    return False


def _follows_document(reader: Reader, place: int) -> bool:
    """ "The report of March 2024"; a question about several reports may select them by time."""
    linked = (
        reader.text(place) if reader.text(place) in {"from", "dated"} else reader.text(place - 1)
    )
    noun = place - 1 if reader.text(place) in {"from", "dated"} else place - 2
    if linked not in {"of", "from", "for", "dated"} or reader.text(noun) not in DOCUMENT_NOUNS:
        return False
    return any(reader.text(at) in _DETERMINERS for at in range(noun - _ATTRIBUTE_WORDS, noun))


def _is_document(text: str) -> bool:
    return text in DOCUMENT_NOUNS or text.removesuffix("s") in DOCUMENT_NOUNS
