"""What a worker embeds a space with: its recorded model, with vectors as long as it has them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.agent_orchestrator.clients.space_models import Recorded, SpaceModels
from services.agent_orchestrator.ingest.pipeline.refusals import is_of_the_model
from services.agent_orchestrator.ingest.pipeline.space_embedder import (
    Registry,
    SingleModel,
    SpaceEmbedder,
)
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.embedding.embedder import Embedder
from services.models.errors import EmbedderUnavailable
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import FieldError, InvalidFieldError
from tests.stubs.embedders import StubEmbedder


class AnyLength:
    """A provider that makes a model's vectors as long as they are asked for; `default` is the configured model."""

    def __init__(self, default: Embedder) -> None:
        self.default = default
        self.built: dict[tuple[str, int | None], StubEmbedder] = {}

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        own = model in ("", self.default.model) and dimension in (None, 0, self.default.dimension)
        if own:
            return self.default
        return self.built.setdefault((model, dimension), StubEmbedder(model, dimension or 16))


class Unlisted(StubEmbedder):
    """Tells its dimension from its first answer on."""

    def __getattribute__(self, name: str) -> object:
        if name == "dimension" and not (self.texts or self.running):
            raise EmbedderUnavailable("not known yet")
        return super().__getattribute__(name)


@pytest.fixture(autouse=True)
def call() -> Iterator[None]:
    with call_scope(CallContext("r", "m", "s", "u", frozenset({"write"}))):
        yield


def embedder(registry: Registry, *recorded: Recorded) -> SpaceEmbedder:
    """A space that has these models, one after the other."""
    coming = iter(recorded)

    async def ask() -> Recorded:
        return next(coming)

    return SpaceEmbedder(registry, ask, SpaceModels())


@pytest.mark.parametrize("configured", ["newer", "former"])
async def test_documents_have_vectors_as_long_as_the_space_has_them(configured: str) -> None:
    """Whether the settings name another model by now, or ask for other vectors of the same one."""
    ours = StubEmbedder(configured, 16)
    found = embedder(AnyLength(ours), Recorded("former", 4))
    assert await found.renew()
    assert (found.model, found.dimension) == ("former", 4)
    assert (await found.embed(["text"])).shape == (1, 4)
    assert ours.texts == []


async def test_a_space_that_holds_nothing_has_the_configured_model() -> None:
    found = embedder(AnyLength(StubEmbedder("ours", 16)), Recorded("", 0), Recorded("ours", 16))
    assert [await found.renew(), await found.renew()] == [False, False]
    assert (await found.embed(["text"])).shape == (1, 16)


async def test_another_length_of_the_same_model_is_another_model() -> None:
    found = embedder(AnyLength(StubEmbedder("ours", 16)), Recorded("", 0), Recorded("ours", 4))
    assert not await found.renew()
    assert await found.renew()
    assert found.dimension == 4


async def test_documents_wait_where_no_vectors_of_the_spaces_length_are_to_be_had() -> None:
    """They would be refused one by one else, and listed as dead."""
    found = embedder(SingleModel(StubEmbedder("ours", 16)), Recorded("ours", 4))
    with pytest.raises(WaitingError, match="not configured"):
        await found.renew()


async def test_they_wait_too_for_a_model_that_tells_its_length_with_its_first_answer() -> None:
    unlisted = Unlisted("ours", 16)
    recorded = Recorded("ours", 4)
    found = embedder(SingleModel(unlisted), recorded, recorded)
    await found.renew()
    with pytest.raises(WaitingError, match="not configured"):
        await found.embed(["text"])
    with pytest.raises(WaitingError, match="not configured"):
        await found.renew()
    assert unlisted.texts == ["text"]


@pytest.mark.parametrize(
    ("field", "of_the_model"),
    [
        ("embedding_model", True),
        ("documents[3].chunks[0].embedding", True),
        ("documents[3].title", False),
    ],
)
def test_a_vector_that_is_too_long_is_of_another_model(field: str, *, of_the_model: bool) -> None:
    assert is_of_the_model(InvalidFieldError(FieldError(field, "is wrong"))) == of_the_model
