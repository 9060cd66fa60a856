"""When episodes are sent to the language model, whose calls cost money."""

from __future__ import annotations

import pytest

from services.graph_query.core.domain import Passage
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.episodes.extraction_result import ExtractionResult
from services.graph_query.episodes.intake import EpisodeIntake
from services.graph_query.ontology.domain import Ontology
from services.models.embedding.embedder import Embedder
from services.runtime.errors import WrongStateError
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.builders import fact, new_space, passage, unit
from tests.stubs.embedders import StubEmbedder


def models_of(store: FakeGraphStore) -> SpaceModels:
    """Returns only the model `new`."""
    return SpaceModels(store.embeddings, StubEmbedder(model="new"))


class CountingReader:
    """Extracts nothing from every text, and counts the texts."""

    def __init__(self) -> None:
        self.read_texts = 0

    async def read(
        self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
    ) -> ExtractionResult:
        self.read_texts += 1
        return ExtractionResult()


async def test_no_text_is_extracted_for_a_space_that_would_reject_the_vectors() -> None:
    store, reader, space = FakeGraphStore(), CountingReader(), new_space()
    await store.add_facts(space, [fact("Ada", "KNOWS", "Bob", embedding=unit(1))], "old")
    note = passage(space, "d1", "Note", "Ada knows Bob.")
    with pytest.raises(WrongStateError):
        await EpisodeIntake(store, reader, models_of(store)).add(space, [note])
    assert reader.read_texts == 0
    assert (await store.stats(space)).episodes == 0


async def test_a_text_is_extracted_only_once() -> None:
    store, reader, space = FakeGraphStore(), CountingReader(), new_space()
    intake = EpisodeIntake(store, reader, models_of(store))
    note = passage(space, "d1", "Note", "Ada knows Bob.")
    for _ in range(2):
        await intake.add(space, [note])
    assert reader.read_texts == 1
