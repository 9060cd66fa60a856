"""The labels of the sets in this repository are correct: each names one document and stated facts."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import tests.evals
from gateway.cli.ingest.files import File
from tests.evals.labelled import LabelledSet, read_labelled_set

_SETS = Path(tests.evals.__file__).parent
REPORTED = "relevance"
TUNING = "relevance_tuning"
_TITLE = re.compile(r'^title: "(.+)"$|^# (.+)$|<title>(.+)</title>', re.MULTILINE)
_DATE = re.compile(r"^date: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Named:
    """A document as a search names it, with the date from which it is valid if its file states one."""

    id: str
    title: str
    date: str | None


@cache
def data(name: str) -> LabelledSet:
    return read_labelled_set(_SETS / name)


def documents(name: str) -> list[Named]:
    found: dict[str, Named] = {}
    for source in data(name).sources:
        if source.path.name != "facts.jsonl":
            found |= {one.id: one for one in _named(source)}
    return list(found.values())


def _named(source: File) -> list[Named]:
    text = source.path.read_text(encoding="utf-8")
    if source.id.endswith(".messages.jsonl"):
        threads = [json.loads(line)["thread"] for line in text.splitlines()]
        return [Named(thread, thread, None) for thread in threads]
    title, date = _TITLE.search(text), _DATE.search(text)
    shown = next(filter(None, title.groups())) if title else source.path.name
    return [Named(source.id, shown, date[1] if date else None)]


def facts(name: str) -> list[dict[str, str]]:
    files = [one.path for one in data(name).sources if one.path.name == "facts.jsonl"]
    return [
        json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()
    ]


@pytest.mark.parametrize("name", [REPORTED, TUNING])
def test_each_pattern_matches_one_document(name: str) -> None:
    named = documents(name)
    for question in data(name).questions:
        if question.doc is None:
            continue
        matched = [
            one.id for one in named if question.doc.search(one.id) or question.doc.search(one.title)
        ]
        assert len(matched) == 1, (question.text, matched)


@pytest.mark.parametrize("name", [REPORTED, TUNING])
def test_each_expected_fact_is_stated_once(name: str) -> None:
    sentences = [fact["fact"] for fact in facts(name)]
    for question in data(name).questions:
        if question.fact is None:
            continue
        matched = [sentence for sentence in sentences if question.fact.search(sentence)]
        assert len(matched) == 1, (question.text, matched)


@pytest.mark.parametrize("name", [REPORTED, TUNING])
def test_an_expected_fact_holds_at_the_time_of_the_question(name: str) -> None:
    for question in data(name).questions:
        for fact in facts(name):
            if question.fact is None or not question.fact.search(fact["fact"]):
                continue
            now = question.as_of or "9999"
            assert (fact["valid_at"] or "") <= now < (fact["invalid_at"] or "99999"), question.text


@pytest.mark.parametrize("name", [REPORTED, TUNING])
def test_an_expected_document_exists_at_the_time_of_the_question(
    name: str,
) -> None:
    named = documents(name)
    for question in data(name).questions:
        if question.doc is None or question.as_of is None:
            continue
        (date,) = [
            one.date
            for one in named
            if question.doc.search(one.id) or question.doc.search(one.title)
        ]
        assert date is not None, question.text
        assert date <= question.as_of, question.text


@pytest.mark.parametrize("name", [REPORTED, TUNING])
def test_facts_cite_documents_of_the_set(name: str) -> None:
    ids = {one.id for one in documents(name)}
    assert {fact["document_id"] for fact in facts(name)} <= ids


@pytest.mark.parametrize("name", [REPORTED, TUNING])
def test_no_question_is_asked_twice_for_the_same_time(name: str) -> None:
    asked = Counter((one.text.casefold(), one.as_of) for one in data(name).questions)
    assert max(asked.values()) == 1


@pytest.mark.parametrize("name", [REPORTED, TUNING])
def test_unanswerable_questions_name_no_known_document_or_entity(name: str) -> None:
    known = {one.title.casefold() for one in documents(name)} | _entities(name)
    for question in data(name).questions:
        if question.is_unknown:
            assert not [one for one in known if one in question.text.casefold()], question.text


def test_the_tuning_set_shares_nothing_with_the_reported_set() -> None:
    reported, tuning = data(REPORTED), data(TUNING)
    assert not {one.id for one in documents(REPORTED)} & {one.id for one in documents(TUNING)}
    assert not _entities(REPORTED) & _entities(TUNING)
    asked = {one.text.casefold() for one in reported.questions}
    assert not asked & {one.text.casefold() for one in tuning.questions}


def _entities(name: str) -> set[str]:
    return {fact[end].casefold() for fact in facts(name) for end in ("subject", "object")}


def test_the_reported_set_has_the_minimum_size() -> None:
    own = [one for one in data(REPORTED).sources if "sample" not in one.path.parts]
    assert len(own) >= 40
    assert len(data(REPORTED).questions) >= 60
    assert sum(one.is_unknown for one in data(REPORTED).questions) >= 12
