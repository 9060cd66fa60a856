"""A worker embeds documents with the recorded model and dimension of their space."""

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


class AnyDimension:
    """A provider that has every model in every dimension; `default` is the configured model."""

    def __init__(self, default: Embedder) -> None:
        self.default = default
        self.built: dict[tuple[str, int | None], StubEmbedder] = {}

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        own = model in ("", self.default.model) and dimension in (None, 0, self.default.dimension)
        if own:
            return self.default
        return self.built.setdefault((model, dimension), StubEmbedder(model, dimension or 16))


class LazyDimensionEmbedder(StubEmbedder):
    """An embedder whose dimension is unknown before its first answer."""

    def __getattribute__(self, name: str) -> object:
        if name == "dimension" and not (self.texts or self.running):
            raise EmbedderUnavailable("not known yet")
        return super().__getattribute__(name)


@pytest.fixture(autouse=True)
def call() -> Iterator[None]:
    with call_scope(CallContext("r", "m", "s", "u", frozenset({"write"}))):
        yield


def embedder(registry: Registry, *recorded: Recorded) -> SpaceEmbedder:
    """Returns the embedder of a space that has these models, one after another."""
    remaining = iter(recorded)

    async def ask() -> Recorded:
        return next(remaining)

    return SpaceEmbedder(registry, ask, SpaceModels())


@pytest.mark.parametrize("configured", ["newer", "former"])
async def test_documents_are_embedded_in_the_dimension_of_the_space(configured: str) -> None:
    """This holds if the settings name another model, or another dimension of the same model."""
    ours = StubEmbedder(configured, 16)
    found = embedder(AnyDimension(ours), Recorded("former", 4))
    assert await found.renew()
    assert (found.model, found.dimension) == ("former", 4)
    assert (await found.embed(["text"])).shape == (1, 4)
    assert ours.texts == []


async def test_an_empty_space_uses_the_configured_model() -> None:
    found = embedder(AnyDimension(StubEmbedder("ours", 16)), Recorded("", 0), Recorded("ours", 16))
    assert [await found.renew(), await found.renew()] == [False, False]
    assert (await found.embed(["text"])).shape == (1, 16)


async def test_another_dimension_of_the_same_model_counts_as_another_model() -> None:
    found = embedder(AnyDimension(StubEmbedder("ours", 16)), Recorded("", 0), Recorded("ours", 4))
    assert not await found.renew()
    assert await found.renew()
    assert found.dimension == 4


async def test_documents_wait_if_the_dimension_of_the_space_is_not_available() -> None:
    """Otherwise they would be rejected one by one and listed as dead."""
    found = embedder(SingleModel(StubEmbedder("ours", 16)), Recorded("ours", 4))
    with pytest.raises(WaitingError, match="not configured"):
        await found.renew()


async def test_documents_wait_if_the_first_answer_shows_another_dimension() -> None:
    lazy = LazyDimensionEmbedder("ours", 16)
    recorded = Recorded("ours", 4)
    found = embedder(SingleModel(lazy), recorded, recorded)
    await found.renew()
    with pytest.raises(WaitingError, match="not configured"):
        await found.embed(["text"])
    with pytest.raises(WaitingError, match="not configured"):
        await found.renew()
    assert lazy.texts == ["text"]


@pytest.mark.parametrize(
    ("field", "of_the_model"),
    [
        ("embedding_model", True),
        ("documents[3].chunks[0].embedding", True),
        ("documents[3].title", False),
    ],
)
def test_only_rejected_embedding_fields_are_attributed_to_the_model(
    field: str, *, of_the_model: bool
) -> None:
    assert is_of_the_model(InvalidFieldError(FieldError(field, "is wrong"))) == of_the_model
