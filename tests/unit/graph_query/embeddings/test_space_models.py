"""A space is embedded with its recorded model instead of the configured one, and its vectors keep their length."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from braid.graph.v1 import ingest_pb2
from services.graph_query.core.domain import Passage
from services.graph_query.core.store import MAX_DIMENSION
from services.graph_query.embeddings.domain import Vectors
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.episodes.extraction_result import ExtractionResult
from services.graph_query.episodes.intake import EpisodeIntake
from services.graph_query.findings.domain import FindingFilter
from services.graph_query.findings.intake import FindingIntake
from services.graph_query.ontology.domain import Ontology
from services.graph_query.servicers.ingest import FactIntake
from services.models.embedding.embedder import Embedder
from services.runtime.errors import InvalidFieldError, OverloadedError, WrongStateError
from tests.oracles.graph.embeddings import FakeEmbeddings
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.builders import fact, passage
from tests.store_suite.graph.findings_suite import finding
from tests.stubs.embedders import StubEmbedder, StubModels

FORMER = StubEmbedder("former", 3)
SPACE = "s"


@pytest.fixture
def store() -> FakeGraphStore:
    return FakeGraphStore()


def models(store: FakeGraphStore, *others: StubEmbedder) -> SpaceModels:
    """Returns the model `stub` with four values, and the other models."""
    return SpaceModels(store.embeddings, StubModels(others=others))


async def with_vectors(store: FakeGraphStore) -> None:
    """Adds a fact that is embedded with the former model."""
    result = fact("Anna", "OWNS", "Shop", embedding=(1.0, 0.0, 0.0))
    await store.add_facts(SPACE, [result], "former")


def add_facts_request(*vectors: list[float], model: str = "") -> ingest_pb2.AddFactsRequest:
    """Returns a request to add facts with vectors."""
    facts = [
        ingest_pb2.FactInput(
            subject=ingest_pb2.EntityInput(name="Anna"),
            relation_type="KNOWS",
            object=ingest_pb2.EntityInput(name=f"Friend {n}"),
            embedding=vector,
        )
        for n, vector in enumerate(vectors)
    ]
    return ingest_pb2.AddFactsRequest(facts=facts, embedding_model=model)


async def take_all(
    store: FakeGraphStore, *requests: ingest_pb2.AddFactsRequest
) -> tuple[int, list[str]]:
    """Returns how many facts were added, and why the others were rejected."""
    async with FactIntake(store, SPACE, models(store)) as intake:
        for request in requests:
            await intake.take(request)
    return intake.response().added_count, [one.reason for one in intake.response().refused]


async def test_a_space_is_embedded_with_its_own_model(store: FakeGraphStore) -> None:
    assert (await models(store, FORMER).embedder(SPACE)).model == "stub"
    await with_vectors(store)
    assert (await models(store, FORMER).embedder(SPACE)).model == "former"
    embedded = await models(store, FORMER).embed(SPACE, ["text"])
    assert embedded is not None
    assert (embedded.model, embedded.rows.shape) == ("former", (1, 3))


@pytest.mark.parametrize("others", [(), (StubEmbedder("former", 5),)])
async def test_nothing_is_embedded_if_the_spaces_model_is_unavailable_or_differs_in_length(
    store: FakeGraphStore, others: tuple[StubEmbedder, ...]
) -> None:
    await with_vectors(store)
    with pytest.raises(WrongStateError):
        await models(store, *others).embedder(SPACE)
    assert await models(store, *others).embed(SPACE, ["text"]) is None


async def test_a_space_is_embedded_with_vectors_of_its_recorded_length(
    store: FakeGraphStore,
) -> None:
    """Both for a former model and for a configured model whose configured length has changed."""
    await with_vectors(store)
    for own in ("stub", "former"):
        longer = StubEmbedder("former", 5)
        registry = StubModels(own, 5, others=[longer, StubEmbedder("former", 3)])
        embedded = await SpaceModels(store.embeddings, registry).embed(SPACE, ["text"])
        assert embedded is not None
        assert (embedded.model, embedded.rows.shape) == ("former", (1, 3))
        assert registry.texts == longer.texts == []


async def test_a_space_is_not_embedded_during_a_model_migration(
    store: FakeGraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def changing(_self: FakeEmbeddings, _space: str) -> Vectors:
        return Vectors("", "stub", 5)

    monkeypatch.setattr(FakeEmbeddings, "vectors", changing)
    with pytest.raises(OverloadedError):
        await models(store).embedder(SPACE)
    assert await models(store).embed(SPACE, ["text"]) is None


async def test_given_vectors_must_have_the_length_of_the_spaces_vectors(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    good, bad = (
        add_facts_request([1.0, 0.0, 0.0], model="former"),
        add_facts_request([1.0, 0.0, 0.0, 0.0], model="former"),
    )
    assert await take_all(store, good, bad) == (1, ["embedding must have 3 values"])


async def test_the_first_vectors_of_the_configured_model_must_have_its_length(
    store: FakeGraphStore,
) -> None:
    request = add_facts_request([1.0] * 4, [1.0] * 3, model="stub")
    assert await take_all(store, request) == (1, ["embedding must have 4 values"])


async def test_the_first_vector_of_an_unknown_model_determines_the_length(
    store: FakeGraphStore,
) -> None:
    first, second = (
        add_facts_request([1.0] * 7, [1.0] * 6, model="any"),
        add_facts_request([1.0] * 6, model="any"),
    )
    text = "embedding must have 7 values"
    assert await take_all(store, first, second) == (1, [text, text])
    assert (await store.embeddings.vectors(SPACE)).dimension == 7


async def test_a_vector_that_is_too_long_for_an_index_is_rejected(store: FakeGraphStore) -> None:
    request = add_facts_request([1.0] * (MAX_DIMENSION + 1), [1.0] * MAX_DIMENSION, model="any")
    reason = f"embedding must have at most {MAX_DIMENSION} values"
    assert await take_all(store, request) == (1, [reason])


async def test_a_rejected_fact_does_not_determine_the_length_of_vectors(
    store: FakeGraphStore,
) -> None:
    late, zeros, good = (
        add_facts_request(one, model="any") for one in ([1.0] * 2, [0.0] * 3, [1.0] * 7)
    )
    late.facts[0].valid_time.seconds = late.facts[0].invalid_time.seconds = 1
    several = add_facts_request([0.0] * 5, [1.0] * 7, model="any")
    refused = [
        "must end after the time since when it holds",
        *["embedding must not be all zeros"] * 2,
    ]
    assert await take_all(store, late, zeros, several, good) == (2, refused)
    assert (await store.embeddings.vectors(SPACE)).dimension == 7


async def test_findings_are_embedded_with_the_spaces_model(store: FakeGraphStore) -> None:
    await with_vectors(store)
    intake = FindingIntake(store.findings, models(store, FORMER))
    assert (await intake.add(SPACE, [finding("It works.")], "")).without_vector == 0
    [hit] = await store.findings.findings_by_vector(
        SPACE, [1.0, 1.0, 1.0], FindingFilter(), 5, exact=True
    )
    assert hit.score > 0


@pytest.mark.parametrize("others", [(), (StubEmbedder("former", 5),)])
async def test_findings_are_stored_without_vectors_if_the_spaces_model_is_unavailable(
    store: FakeGraphStore, others: tuple[StubEmbedder, ...]
) -> None:
    await with_vectors(store)
    intake = FindingIntake(store.findings, models(store, *others))
    assert (await intake.add(SPACE, [finding("It works.")], "")).without_vector == 1
    assert (await store.findings.finding_state(SPACE)).model == "former"


async def test_given_vectors_of_findings_must_have_the_same_length(store: FakeGraphStore) -> None:
    intake = FindingIntake(store.findings, models(store))
    rows = [finding(f"F{n}", embedding=(1.0,) * n) for n in (2, 3)]
    with pytest.raises(InvalidFieldError) as failed:
        await intake.add(SPACE, rows, "any")
    assert [one.field for one in failed.value.fields] == ["findings[1].embedding"]
    assert (await intake.add(SPACE, rows[:1], "any")).without_vector == 0
    with pytest.raises(InvalidFieldError):
        await intake.add(SPACE, rows[1:], "any")


async def test_findings_next_to_given_vectors_are_embedded_only_with_the_spaces_model(
    store: FakeGraphStore,
) -> None:
    named = StubEmbedder("named", 3)
    intake = FindingIntake(store.findings, models(store, FORMER, named))
    rows = [finding("Given", embedding=(1.0, 0.0, 0.0)), finding("Bare")]
    assert (await intake.add(SPACE, rows, "named")).without_vector == 1
    assert named.texts == []
    rows = [finding("Given", embedding=(1.0,) * 4), finding("Bare")]
    assert (await intake.add("other", rows, "stub")).without_vector == 0
    await store.add_facts("third", [fact("A", "OWNS", "B", embedding=(1.0, 0.0, 0.0))], "former")
    rows = [finding("Given", embedding=(1.0, 0.0, 0.0)), finding("Bare")]
    assert (await intake.add("third", rows, "former")).without_vector == 0


async def test_nothing_is_embedded_that_the_space_would_reject(store: FakeGraphStore) -> None:
    await with_vectors(store)
    configured, longer = StubEmbedder("stub"), StubEmbedder("former", 5)
    assert await SpaceModels(store.embeddings, configured).embed(SPACE, ["text"], "stub") is None
    assert await SpaceModels(store.embeddings, longer).embed(SPACE, ["text"]) is None
    assert configured.texts == longer.texts == []


async def test_a_space_whose_texts_get_no_vectors_is_logged_once(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    longer = SpaceModels(store.embeddings, StubEmbedder("former", 5))
    with capture_logs() as logs:
        for _ in range(3):
            assert await longer.embed(SPACE, ["text"]) is None
    assert [(one["log_level"], one["space"]) for one in logs] == [("warning", SPACE)]
    assert "length" in logs[0]["reason"]


async def test_a_text_is_extracted_with_the_embedder_of_the_spaces_model(
    store: FakeGraphStore,
) -> None:
    used = []

    class Reader:
        async def read(
            self, space: str, passage: Passage, ontology: Ontology, embedder: Embedder
        ) -> ExtractionResult:
            used.append(embedder.model)
            return ExtractionResult()

    await with_vectors(store)
    note = passage(SPACE, "d1", "Note", "Ada knows Bob.")
    await EpisodeIntake(store, Reader(), models(store, FORMER)).add(SPACE, [note])
    assert used == ["former"]
