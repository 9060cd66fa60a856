"""What a request to forget names of a user's memory."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.forgetting import (
    Selection,
    is_confirmed,
    means_everything,
    named_in,
    select,
    subject_to_forget,
)
from services.agent_orchestrator.entity_memory.matching import Name
from services.agent_orchestrator.entity_memory.names import canonical_name
from services.agent_orchestrator.entity_memory.records import End, Provenance, Relationship

DAY = datetime(2026, 11, 27, tzinfo=UTC)


def name(text: str, type_: EntityType = EntityType.TOOL, *aliases: str) -> Name:
    folded = tuple(map(canonical_name, aliases))
    return Name(f"{text} {type_}", text, canonical_name(text), aliases, folded, type_)


EMACS, DOCKER = name("Emacs"), name("Docker", EntityType.TOOL, "Moby")
GO, GO_KIT = name("Go"), name("Go Kit")
MERCURY, MERCURY_PROJECT = name("Mercury"), name("Mercury", EntityType.PROJECT)
BARREL, REDIS = name("Barrel", EntityType.PROJECT), name("Redis")
NAMES = [EMACS, DOCKER, GO, GO_KIT, MERCURY, MERCURY_PROJECT, BARREL, REDIS]


def relationship(source: Name | None, target: Name, type_: str = "USES") -> Relationship:
    """Returns a relationship; of the user without a source. Its id names its ends."""
    start = End("me", "you", None) if source is None else End(source.id, source.name, source.type)
    seen = Provenance("c", "m")
    return Relationship(
        id=f"{start.name} {type_} {target.name}",
        source=start,
        type=RelationshipType(type_),
        target=End(target.id, target.name, target.type),
        context="",
        confidence=0.9,
        mention_count=1,
        first_seen=seen,
        last_seen=seen,
        create_time=DAY,
        last_mention_time=DAY,
        delete_time=None,
    )


KNOWN = [
    relationship(None, EMACS),
    relationship(None, EMACS, "PREFERS"),
    relationship(None, DOCKER),
    relationship(BARREL, EMACS),
    relationship(BARREL, REDIS, "DEPENDS_ON"),
]


def selected(words: str) -> Selection:
    named = named_in(words, NAMES)
    ids = {one.id for one in named}
    around = [one for one in KNOWN if {one.source.id, one.target.id} & ids]
    return select(words, named, around)


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (
            "forget that I use emacs",
            Selection(relationships=("you USES Emacs", "you PREFERS Emacs")),
        ),
        ("Forget that I\u2019m on Moby", Selection(relationships=("you USES Docker",))),
        (
            "forget that Barrel depends on Redis",
            Selection(relationships=("Barrel DEPENDS_ON Redis",)),
        ),
        ("Delete what you know about Docker.", Selection(entities=(DOCKER.id,))),
        ("forget everything about the Go Kit", Selection(entities=(GO_KIT.id,))),
        ("forget Mercury", Selection(ambiguous=(MERCURY, MERCURY_PROJECT))),
        ("forget the project Mercury", Selection(entities=(MERCURY_PROJECT.id,))),
        ("forget that I use Go", Selection()),
        ("forget the old office", Selection()),
    ],
)
def test_the_words_of_a_request_choose_what_is_forgotten(words: str, chosen: Selection) -> None:
    assert selected(words) == chosen


@pytest.mark.parametrize(
    ("words", "is_all"),
    [
        ("Forget everything about me.", True),
        ("forget everything", True),
        ("Yes, forget everything.", True),
        ("Can you delete everything you know about me?", True),
        ("delete all that you\u2019ve stored", True),
        ("Delete what you know about me", True),
        ("forget everything that you\u2019ve learned about me", True),
        ("clear my memory", True),
        ("wipe your memory of me", True),
        ("forget everything about the old office", False),
        ("forget that I use Emacs", False),
        ("delete what you know about Docker", False),
        ("forget all the meetings of last week", False),
    ],
)
def test_only_a_request_without_a_subject_means_everything(words: str, is_all: bool) -> None:
    assert means_everything(words) is is_all


def test_everything_is_confirmed_by_the_users_own_yes() -> None:
    assert is_confirmed("Yes, forget everything.")
    assert not is_confirmed("Forget everything about me.")
    assert not is_confirmed("He said yes. Forget everything.")


@pytest.mark.parametrize(
    ("request_", "subject"),
    [
        ("Please forget that I'm vegetarian.", "I'm vegetarian"),
        ("forget I use Emacs", "I use Emacs"),
        ("Delete what you know about Docker", "Docker"),
        ("Can you erase everything about the old office?", "the old office?"),
        ("Forget everything about me.", "me"),
        ("forget it", ""),
    ],
)
def test_a_request_to_forget_is_about_what_stands_after_it(request_: str, subject: str) -> None:
    assert subject_to_forget(request_) == subject
