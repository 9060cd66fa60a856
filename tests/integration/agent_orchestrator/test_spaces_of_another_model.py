"""Spaces embedded with another model than the orchestrator's: the tiers have it, and make the query's vector."""

from __future__ import annotations

import pytest

from braid.common.v1 import legs_pb2, retrieval_pb2
from tests.integration.agent_orchestrator.conftest import BOB, World
from tests.integration.agent_orchestrator.questions import ask


def last_asked(world: World) -> list[tuple[bool, bool]]:
    """Of each tier's last call: whether it was given a vector, and whether it was to search by words alone."""
    hybrid = world.vector.script.requests["HybridSearch"][-1]
    facts = world.graph.script.requests["SearchFacts"][-1]
    return [(one.HasField("query_embedding"), one.text_only) for one in (hybrid, facts)]


@pytest.fixture
def theirs(answers: World) -> World:
    """The vector tier tells that the space is embedded with another model; facts have vectors as well."""
    answers.graph.answer.vector_path = retrieval_pb2.VECTOR_PATH_INDEX
    answers.vector.answer.embedding_model = "theirs"
    return answers


async def test_the_question_is_not_embedded_here_once_the_spaces_model_is_known(
    theirs: World,
) -> None:
    await ask(theirs)
    theirs.embedder.texts.clear()
    answer = await ask(theirs)
    assert last_asked(theirs) == [(False, False), (False, False)]
    assert theirs.embedder.texts == []
    assert [leg.status for leg in answer.legs] == [legs_pb2.LEG_STATUS_OK] * 2


async def test_that_our_embedder_is_away_says_nothing_of_theirs(theirs: World) -> None:
    """From the first question on, at which the space's model is not known yet."""
    theirs.embedder.away = True
    for _ in range(2):
        answer = await ask(theirs)
        assert last_asked(theirs) == [(False, False), (False, False)]
        assert [leg.status for leg in answer.legs] == [legs_pb2.LEG_STATUS_OK] * 2


async def test_a_space_that_moved_to_our_model_is_given_our_vector_again(theirs: World) -> None:
    await ask(theirs)
    theirs.vector.answer.embedding_model = "stub"
    await ask(theirs)
    await ask(theirs)
    assert last_asked(theirs) == [(True, False), (True, False)]


async def test_the_model_of_one_space_says_nothing_of_another(theirs: World) -> None:
    await ask(theirs)
    await ask(theirs, metadata=BOB)
    assert last_asked(theirs) == [(True, False), (True, False)]
