"""Which relation names the contract accepts, and which of them denote the same relation."""

from __future__ import annotations

import gzip
import json
import unicodedata
from pathlib import Path

import protovalidate
import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from braid.graph.v1 import ingest_pb2, ontology_pb2
from services.graph_query.core.domain import EntityName, GivenFact
from services.graph_query.core.full_text import relation_clause
from services.graph_query.core.identity import fact_uuid
from services.graph_query.core.names import clean_relation, relation_key, relation_term
from services.graph_query.ontology.domain import Ontology, RelationType

OPENIE = Path("../shared/eval/multihop/musique_train100/openie.jsonl.gz")
VALIDATOR = protovalidate.Validator()
MARKS = "_-'.,()’‐‑–"
# Letters, marks and digits that both libraries know in every Unicode version.
LETTERS = st.characters(max_codepoint=0x2FFF, categories=("Lu", "Ll", "Lo"))
ACCENTS = st.characters(min_codepoint=0x300, max_codepoint=0x36F, categories=["Mn"])
DIGITS = st.characters(max_codepoint=0x2FFF, categories=["Nd"])
NAMES = st.builds(
    "".join,
    st.tuples(
        st.text(st.one_of(DIGITS, st.sampled_from(MARKS)), max_size=5),
        LETTERS,
        st.text(st.one_of(LETTERS, ACCENTS, DIGITS, st.sampled_from(MARKS + " ")), max_size=30),
    ),
)
CASED = st.text(
    st.characters(max_codepoint=0x52F, categories=("Lu", "Ll"), exclude_characters="ıŉ")
)


def end(name: str) -> ingest_pb2.EntityInput:
    """Returns one end of a fact."""
    return ingest_pb2.EntityInput(name=name)


def violations_of(relation: str) -> list[str]:
    """Returns the violations of the name as the relation of a fact and of an ontology."""
    messages: tuple[Message, ...] = (
        ingest_pb2.FactInput(subject=end("a"), relation_type=relation, object=end("b")),
        ontology_pb2.RelationType(name=relation),
    )
    found = [VALIDATOR.collect_violations(message) for message in messages]
    return [violation.proto.message for violations in found for violation in violations]


@given(name=NAMES)
def test_letters_of_any_script_digits_and_marks_form_a_valid_name(name: str) -> None:
    assert violations_of(name) == []


@pytest.mark.parametrize(
    "name",
    [
        "OWNS",
        "works on",
        "editor-in-chief is",
        "co-written by",
        "ranked No. 1 professional in",
        "4th freest economy in",
        "TV partner(s)",
        "is fiancée of",
        "O’Brien’s successor",
        "владеет",
        "είναι μέλος του",
        "मालिक है",
        "เป็นเจ้าของ",
        "می\u200cشود",
        "所有している",
        "소유한다",
        "يملك",
    ],
)
def test_names_in_various_scripts_are_accepted(name: str) -> None:
    assert violations_of(name) == []


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "1",
        "...",
        "-",
        "2024-05-01",
        " OWNS",
        "́a",
        "a\x00b",
        "a\nb",
        "OWNS\n",
        "a\tb",
        "a;b",
        "a`b",
        'a"b',
        "a{b}",
        "a\\b",
        "a/b",
        "a$b",
        "a\u202eb",
        "a\xa0b",
        "a\u2028b",
        "a🙂",
    ],
)
def test_names_without_a_letter_or_with_other_characters_are_rejected(name: str) -> None:
    assert len(violations_of(name)) == 2


@given(
    before=NAMES,
    char=st.characters(categories=("Cc", "Zl", "Zp", "Sm", "Sc", "Sk", "So"), max_codepoint=0x2FFF),
    after=NAMES,
)
def test_a_control_character_or_symbol_at_any_position_is_rejected(
    before: str, char: str, after: str
) -> None:
    assert len(violations_of(f"{before[:20]}{char}{after[:20]}")) == 2


def test_a_name_has_a_maximum_length() -> None:
    assert violations_of("a" * 64) == []
    assert violations_of("a" * 200) == ["must be at most 64 characters"]
    assert len(violations_of("a" * 201)) == 2


@pytest.mark.skipif(not OPENIE.exists(), reason="the evaluation data are not beside the checkout")
def test_all_relations_that_a_model_extracted_from_wikipedia_are_valid() -> None:
    with gzip.open(OPENIE) as lines:
        triples = [triple for line in lines for triple in json.loads(line)["triples"]]
    facts = [
        ingest_pb2.FactInput(subject=end(s), relation_type=r, object=end(o))
        for s, r, o in triples
        if s != o
    ]
    assert len(facts) == 17_214
    assert [one.relation_type for one in facts if VALIDATOR.collect_violations(one)] == []


@given(name=st.one_of(NAMES, st.text(max_size=40)))
def test_the_relation_key_is_idempotent(name: str) -> None:
    assert relation_key(relation_key(name)) == relation_key(name)


@given(name=NAMES)
def test_a_name_has_a_key_that_does_not_depend_on_its_unicode_form(name: str) -> None:
    assert relation_key(name)
    assert len({relation_key(unicodedata.normalize(form, name)) for form in ("NFC", "NFD")}) == 1
    assert relation_key(clean_relation(name)) == relation_key(name)


@given(name=CASED)
def test_letter_case_does_not_distinguish_relations(name: str) -> None:
    assert relation_key(name.upper()) == relation_key(name.lower()) == relation_key(name)


@given(name=st.text(st.sampled_from("aeinouсовαει "), min_size=1), accents=st.lists(ACCENTS))
def test_accents_do_not_distinguish_relations(name: str, accents: list[str]) -> None:
    marked = "".join(
        char + (accents[place % len(accents)] if accents and char != " " else "")
        for place, char in enumerate(name)
    )
    assert relation_key(marked) == relation_key(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Is Fiancée  of", "is fiancee of"),
        ("ΣΎΜΒΟΥΛΟΣ", "συμβουλος"),
        ("GROSSVATER VON", "Großvater von"),
        ("İŞ ORTAĞI", "is ortagi"),
        ("editor‑in‑chief", "editor-in-chief"),
        ("Sweden’s entry", "sweden's entry"),
        ("کتاب\u200cها", "کتابها"),
        ("مُدِير", "مدير"),
    ],
)
def test_spellings_of_the_same_relation_have_the_same_key_and_term(one: str, other: str) -> None:
    assert relation_key(one) == relation_key(other)
    assert relation_term(one) == relation_term(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("OWNS", "OWN"), ("かき", "がき"), ("क़लम", "कलम"), ("มา", "ม่า"), ("co-founder", "cofounder")],
)
def test_different_relations_have_different_keys(one: str, other: str) -> None:
    assert relation_key(one) != relation_key(other)


def test_the_key_of_a_lone_accent_is_not_the_empty_filter() -> None:
    assert relation_key("\u0301") != ""
    assert relation_key("  ") == ""


def test_spellings_of_a_relation_are_the_same_fact_and_ontology_relation() -> None:
    first, second = (
        fact_uuid("s", ("a", "b"), name, (0.0, 1.0)) for name in ("Fiancée of", "FIANCEE OF")
    )
    assert first == second
    strict = Ontology(relation_types=(RelationType("Fiancée of"),), strict=True)
    assert strict.misfit("fiancee OF", "", "") is None
    assert strict.misfit("fiance of", "", "") is not None


def test_the_relation_clause_is_a_filter_of_quoted_words() -> None:
    assert relation_clause("") == relation_clause(relation_key("of the")) == ""
    assert relation_clause("editor-in-chief").endswith('name:"editor in chief")^0')
    assert relation_clause("владеет") == f' +braid_ends:"{relation_term("Владеет")}"^0'


def test_a_given_fact_keeps_the_spelling_of_its_relation() -> None:
    fact = GivenFact(EntityName("a"), clean_relation("Fiancée  of"), EntityName("b"), "a b")
    assert fact.relation == "Fiancée of"
