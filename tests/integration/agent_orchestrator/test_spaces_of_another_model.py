"""In a space with another embedding model than the orchestrator's, the tiers embed the query."""

from __future__ import annotations

import pytest

from braid.common.v1 import legs_pb2, retrieval_pb2
from tests.integration.agent_orchestrator.conftest import BOB, World
from tests.integration.agent_orchestrator.searches import ask


def last_asked(world: World) -> list[tuple[bool, bool]]:
    """For the last call of each tier: whether it had a query vector, and whether it was text-only."""
    hybrid = world.vector.script.requests["HybridSearch"][-1]
    facts = world.graph.script.requests["SearchFacts"][-1]
    return [(one.HasField("query_embedding"), one.text_only) for one in (hybrid, facts)]


@pytest.fixture
def theirs(answers: World) -> World:
    """The vector tier reports another embedding model for the space, and facts have vectors."""
    answers.graph.answer.vector_path = retrieval_pb2.VECTOR_PATH_INDEX
    answers.vector.answer.embedding_model = "theirs"
    return answers


async def test_the_orchestrator_embeds_no_query_once_it_knows_the_other_model(
    theirs: World,
) -> None:
    await ask(theirs)
    theirs.embedder.texts.clear()
    answer = await ask(theirs)
    assert last_asked(theirs) == [(False, False), (False, False)]
    assert theirs.embedder.texts == []
    assert [leg.status for leg in answer.legs] == [legs_pb2.LEG_STATUS_OK] * 2


async def test_an_unavailable_orchestrator_embedder_does_not_degrade_the_tiers(
    theirs: World,
) -> None:
    """This includes the first query, when the space's model is not known yet."""
    theirs.embedder.away = True
    for _ in range(2):
        answer = await ask(theirs)
        assert last_asked(theirs) == [(False, False), (False, False)]
        assert [leg.status for leg in answer.legs] == [legs_pb2.LEG_STATUS_OK] * 2


async def test_a_space_that_moves_to_the_orchestrators_model_receives_its_vector_again(
    theirs: World,
) -> None:
    await ask(theirs)
    theirs.vector.answer.embedding_model = "stub"
    await ask(theirs)
    await ask(theirs)
    assert last_asked(theirs) == [(True, False), (True, False)]


async def test_the_model_of_one_space_does_not_affect_another(theirs: World) -> None:
    await ask(theirs)
    await ask(theirs, metadata=BOB)
    assert last_asked(theirs) == [(True, False), (True, False)]
