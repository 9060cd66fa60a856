"""Which relationships answer a question in natural language, and in which order."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.matching import Name
from services.agent_orchestrator.entity_memory.questions import rank, read_question
from services.agent_orchestrator.entity_memory.records import End, Provenance, Relationship

WHEN = datetime(2026, 3, 1, tzinfo=UTC)
USER = End("user", "User", None)
SPLIT = "I use Grafana for monitoring and Terraform for infrastructure."
WINDROSE = "Windrose is written in Julia and runs on Kubernetes."


def end(name: str, type_: EntityType = EntityType.TOOL) -> End:
    return End(name.lower(), name, type_)


def relationship(source: End, type_: RelationshipType, target: End, context: str) -> Relationship:
    seen = Provenance("c1", "m1")
    id_ = f"{source.id} {type_} {target.id}"
    return Relationship(id_, source, type_, target, context, 0.95, 1, seen, seen, WHEN, WHEN, None)


R, T = RelationshipType, EntityType
WIND = end("Windrose", T.PROJECT)
MEMORY = [
    relationship(USER, R.USES, end("Grafana"), SPLIT),
    relationship(USER, R.USES, end("Terraform"), SPLIT),
    relationship(USER, R.PREFERS, end("Nix"), "I prefer Nix."),
    relationship(USER, R.WORKS_WITH, end("Ahmed", T.PERSON), "Ahmed is my colleague."),
    relationship(USER, R.KNOWS, end("Jules", T.PERSON), "My friend Jules lives next door."),
    relationship(WIND, R.USES, end("Julia"), WINDROSE),
    relationship(WIND, R.USES, end("Kubernetes"), WINDROSE),
    relationship(USER, R.WORKS_ON, WIND, "I maintain Windrose."),
]
NAMES = [
    Name(one.id, one.name, one.name.lower(), (), (), one.type)
    for one in {e.id: e for r in MEMORY for e in (r.source, r.target)}.values()
    if one.type is not None
]


def answers(text: str, type_: RelationshipType | None = None) -> list[str]:
    """Returns the answering names, best first. All names are equally similar to the question, so only words decide."""
    question = read_question(text, NAMES, type_, None)
    around = set(question.named)
    candidates = [
        one
        for one in MEMORY
        if (around and {one.source.id, one.target.id} & around)
        or (not around and (one.source.is_user or not question.is_first_person))
    ]
    similarity = {one.id: 0.1 for one in NAMES}
    return [
        one.answer
        for one in rank(question, candidates, similarity, strict=["type"] if type_ else [])
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        pytest.param("What do I use for infrastructure?", "Terraform", id="second of a pair"),
        pytest.param("What do I use for monitoring?", "Grafana", id="first of a pair"),
        pytest.param("Which language is Windrose written in?", "Julia", id="verb of the question"),
        pytest.param("What does Windrose run on?", "Kubernetes", id="other verb"),
        pytest.param("What do I like best?", "Nix", id="words of a relationship are no topic"),
        pytest.param("Who do I work with?", "Ahmed", id="relationship"),
        pytest.param("Who uses Kubernetes?", "Windrose", id="the other way round"),
        pytest.param("windrose", "Windrose", id="bare name"),
        pytest.param("What do I work on?", "Windrose", id="work on"),
    ],
)
def test_the_best_answer_comes_first(text: str, first: str) -> None:
    assert answers(text)[0] == first


def test_a_requested_type_excludes_relationships_of_other_types() -> None:
    assert answers("Who do I know outside of work?", R.KNOWS) == ["Jules"]


@pytest.mark.parametrize("text", ["What do I use for cooking?", "Which car do I use for racing?"])
def test_a_question_about_an_unmentioned_topic_has_no_answer(text: str) -> None:
    assert answers(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "What do you know about me?",
        "what have you saved about me",
        "Tell me everything that you've learned about me.",
        "What do you still remember about me?",
    ],
)
def test_what_is_known_about_the_user_is_listed_by_type(text: str) -> None:
    assert answers(text) == ["Ahmed", "Windrose", "Nix", "Jules", "Grafana", "Terraform"]


def test_what_the_assistant_knows_about_a_name_is_all_about_that_name() -> None:
    assert set(answers("What do you know about Windrose?")) == {"Julia", "Kubernetes", "Windrose"}


def test_whom_a_user_knows_is_a_relationship() -> None:
    assert answers("Who do I know?")[0] == "Jules"
