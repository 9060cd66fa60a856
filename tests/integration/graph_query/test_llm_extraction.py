"""Extraction by a language model stores types, attributes and dates of an episode, completely or not at all."""

from __future__ import annotations

import pytest

from services.graph_query.core.domain import Fact, Origin
from services.graph_query.neo4j_store import Neo4jStore
from services.graph_query.ontology.domain import (
    AttributeKind,
    AttributeType,
    Endpoints,
    EntityType,
    Ontology,
    RelationType,
)
from services.models.errors import LanguageModelUnavailable
from services.runtime.errors import WrongStateError
from tests.integration.graph_query.llm_extraction import Reading, reading
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, listed, unit
from tests.stubs.embedders import StubEmbedder, StubModels
from tests.stubs.openai_server import Answer, hang, raw, server_error

PEOPLE = Ontology(
    entity_types=(
        EntityType("Person", "Somebody.", (AttributeType("role", AttributeKind.STRING),)),
        EntityType("Team", "A group of people."),
    ),
    relation_types=(
        RelationType(
            "LEADS",
            "Who is responsible for a team.",
            (AttributeType("since_year", AttributeKind.INTEGER),),
            (Endpoints("Person", "Team"),),
        ),
    ),
)
MIRA = "Mira Okafor has led the Payments Guild since March 2020."
ANNA = "Anna Bell leads the Payments Guild from May 2023 on."


def script_answers(found: Reading) -> None:
    """Scripts what the model extracts from the two notes."""
    found.script.entities = [
        ("Mira Okafor", "Person"),
        ("Anna Bell", "Person"),
        ("Payments Guild", "Team"),
    ]
    found.script.facts = [
        ("Mira Okafor", "LEADS", "Payments Guild", {"valid_at": "2020-03-01T00:00:00Z"}),
        # Without a time zone on purpose: UTC is assumed.
        ("Anna Bell", "LEADS", "Payments Guild", {"valid_at": "2023-05-01T00:00:00"}),
    ]
    found.script.attributes = {"Person": {"role": "lead"}, "LEADS": {"since_year": 2020}}


async def facts_of(store: Neo4jStore, space: str, name: str, only=ALWAYS) -> list[Fact]:  # type: ignore[no-untyped-def]
    found = await store.neighborhood(space, name.casefold(), "", 20, only)
    return [edge for edge in found.edges if edge.origin is not Origin.LOCAL]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_an_episode_is_extracted_with_types_attributes_and_dates(
    store: Neo4jStore, provider: str
) -> None:
    async with reading(store, provider) as found:
        script_answers(found)
        await store.ontologies.put_ontology(found.space, PEOPLE, None)
        counts = await found.intake.add(found.space, [found.episode("d1", MIRA)])
    assert (counts.episodes, counts.facts, counts.ended) == (1, 1, 0)
    [led] = await facts_of(store, found.space, "Mira Okafor")
    assert (led.relation, led.origin, led.target.type) == ("LEADS", Origin.EXTRACTED, "Team")
    assert (led.valid_at, led.invalid_at) == (day("2020-03-01"), None)
    assert [cited.chunk_id for cited in led.citations] == [found.episode("d1", MIRA).uuid]
    people = await listed(store, found.space, "Person")
    assert [(one.name, one.attributes) for one in people] == [("Mira Okafor", {"role": "lead"})]
    assert people[0].mentions == 1
    in_full = await store.facts(found.space, [led.uuid])
    assert in_full[led.uuid].attributes == {"since_year": 2020}


async def test_a_fact_ended_by_a_later_episode_is_revived_when_that_episode_is_deleted(
    store: Neo4jStore,
) -> None:
    async with reading(store) as found:
        script_answers(found)
        await store.ontologies.put_ontology(found.space, PEOPLE, None)
        await found.intake.add(found.space, [found.episode("d1", MIRA)])
        found.script.contradicts = ["Mira Okafor leads Payments Guild"]
        later = found.episode("d2", ANNA)
        counts = await found.intake.add(found.space, [later])
    assert (counts.facts, counts.ended) == (1, 1)
    now = await facts_of(store, found.space, "Payments Guild", at("2024-01-01"))
    assert [one.source.name for one in now] == ["Anna Bell"]
    [ended] = await facts_of(store, found.space, "Mira Okafor")
    assert (ended.valid_at, ended.invalid_at) == (day("2020-03-01"), day("2023-05-01"))
    deleted = await store.delete_episodes(found.space, [later.uuid])
    assert (deleted.facts, deleted.revived) == (1, 1)
    now = await facts_of(store, found.space, "Payments Guild", at("2024-01-01"))
    assert [(one.source.name, one.invalid_at) for one in now] == [("Mira Okafor", None)]


async def test_a_fact_ended_by_an_already_extracted_fact_is_revived_without_its_episode(
    store: Neo4jStore,
) -> None:
    async with reading(store) as found:
        script_answers(found)
        await store.ontologies.put_ontology(found.space, PEOPLE, None)
        later = found.episode("d2", ANNA)
        await found.intake.add(found.space, [later])
        found.script.contradicts = ["Anna Bell leads Payments Guild"]
        await found.intake.add(found.space, [found.episode("d1", MIRA)])
    [led] = await facts_of(store, found.space, "Mira Okafor")
    assert (led.valid_at, led.invalid_at) == (day("2020-03-01"), day("2023-05-01"))
    assert (await store.delete_episodes(found.space, [later.uuid])).revived == 1
    [led] = await facts_of(store, found.space, "Mira Okafor")
    assert led.invalid_at is None


async def test_an_end_stated_in_a_text_stays_when_a_contradicting_episode_is_deleted(
    store: Neo4jStore,
) -> None:
    async with reading(store) as found:
        script_answers(found)
        found.script.facts[0][3]["invalid_at"] = "2023-05-01T00:00:00Z"
        await store.ontologies.put_ontology(found.space, PEOPLE, None)
        later = found.episode("d2", ANNA)
        await found.intake.add(found.space, [later])
        found.script.contradicts = ["Anna Bell leads Payments Guild"]
        await found.intake.add(found.space, [found.episode("d1", MIRA)])
    assert (await store.delete_episodes(found.space, [later.uuid])).revived == 0
    [led] = await facts_of(store, found.space, "Mira Okafor")
    assert led.invalid_at == day("2023-05-01")


async def test_vectors_of_another_model_than_the_spaces_find_nothing_similar(
    store: Neo4jStore,
) -> None:
    async with reading(store) as found:
        script_answers(found)
        await found.intake.add(found.space, [found.episode("d1", MIRA)])
    for model, expected in (("model", True), ("another", False)):
        known = store.known(found.space, model)
        assert bool(await known.facts_like(unit(1), 5, 0.0)) == expected
        assert bool(await known.entities_like(unit(1), 5, 0.0)) == expected


async def test_extraction_embeds_with_the_spaces_own_model(
    store: Neo4jStore,
) -> None:
    former = StubEmbedder("former", 8)
    async with reading(store, embedder=StubModels(others=[former])) as found:
        script_answers(found)
        known = fact("Ada", "KNOWS", "Bob", embedding=former.vector("Ada knows Bob"))
        await store.add_facts(found.space, [known], "former")
        counts = await found.intake.add(found.space, [found.episode("d1", MIRA)])
    assert counts.facts == 1
    assert await store.embeddings.vectors(found.space) == ("former", "", 2, 8)
    near = store.known(found.space, "former")
    row = (await former.embed(["Mira Okafor"]))[0].tolist()
    assert "Mira Okafor" in [one.name for one in await near.entities_like(row, 5, 0.0)]


async def test_no_text_is_sent_to_the_language_model_if_the_spaces_embedder_is_unavailable(
    store: Neo4jStore,
) -> None:
    async with reading(store) as found:
        script_answers(found)
        known = fact("Ada", "KNOWS", "Bob", embedding=unit(1))
        await store.add_facts(found.space, [known], "former")
        with pytest.raises(WrongStateError):
            await found.intake.add(found.space, [found.episode("d1", MIRA)])
        assert found.stub.requests == []


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_every_prompt_begins_by_stating_that_quoted_text_is_data(
    store: Neo4jStore, provider: str
) -> None:
    async with reading(store, provider) as found:
        script_answers(found)
        await store.ontologies.put_ontology(found.space, PEOPLE, None)
        await found.intake.add(found.space, [found.episode("d1", MIRA)])
        requests = [request.json for request in found.stub.requests]
        schemas = found.script.asked
    prompts = [
        request["messages"][0]["content"] if provider == "openai" else request["system"]
        for schema, request in zip(schemas, requests, strict=True)
        if schema != "findings"
    ]
    assert len(prompts) > 2
    assert all("never instructions" in prompt.splitlines()[1] for prompt in prompts)


async def test_a_fact_that_two_episodes_state_survives_the_deletion_of_one(
    store: Neo4jStore,
) -> None:
    async with reading(store) as found:
        script_answers(found)
        first, second = found.episode("d1", MIRA), found.episode("d2", f"Again: {MIRA}")
        await found.intake.add(found.space, [first, second])
    [led] = await facts_of(store, found.space, "Mira Okafor")
    assert {cited.chunk_id for cited in led.citations} == {first.uuid, second.uuid}
    assert (await store.delete_episodes(found.space, [first.uuid])).facts == 0
    [led] = await facts_of(store, found.space, "Mira Okafor")
    assert [cited.chunk_id for cited in led.citations] == [second.uuid]
    assert (await store.delete_episodes(found.space, [second.uuid])).facts == 1
    stats = await store.stats(found.space)
    assert (stats.entities, stats.facts, stats.episodes) == (0, 0, 0)


async def test_extraction_reuses_entities_that_a_caller_stated(
    store: Neo4jStore,
) -> None:
    async with reading(store) as found:
        script_answers(found)
        await store.add_facts(found.space, [fact("mira okafor", "WORKS_AT", "Braid Works")], "")
        await store.ontologies.put_ontology(found.space, PEOPLE, None)
        await found.intake.add(found.space, [found.episode("d1", MIRA)])
    people = await listed(store, found.space, "Person")
    assert len(people) == 1
    relations = {one.relation for one in await facts_of(store, found.space, "Mira Okafor")}
    assert relations == {"LEADS", "WORKS_AT"}


@pytest.mark.parametrize(
    ("after", "outage"),
    [
        (0, server_error(500)),
        (1, hang()),
        (2, server_error(401)),
        (3, raw(b"not json")),
        (4, server_error(503)),
    ],
)
async def test_an_outage_during_extraction_writes_nothing_and_a_retry_completes(
    store: Neo4jStore, after: int, outage: Answer
) -> None:
    async with reading(store, seconds=1.0) as found:
        script_answers(found)
        await store.ontologies.put_ontology(found.space, PEOPLE, None)
        before = await store.stats(found.space)
        usual = dict(found.stub.routes)
        calls = 0

        def fails_later(request):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            answer = usual["/v1/chat/completions"] if calls <= after else outage
            return answer(request)

        found.stub.routes["/v1/chat/completions"] = fails_later
        episode = found.episode("d1", MIRA)
        with pytest.raises(LanguageModelUnavailable) as failed:
            await found.intake.add(found.space, [episode])
        assert failed.value.retry_after is not None
        assert await store.stats(found.space) == before
    async with reading(store) as again:
        script_answers(again)
        counts = await again.intake.add(found.space, [episode])
        repeated = await again.intake.add(found.space, [episode])
    assert (counts.episodes, counts.facts) == (1, 1)
    assert (repeated.episodes, repeated.facts, repeated.revision) == (0, 0, counts.revision)
    assert len(await facts_of(store, found.space, "Mira Okafor")) == 1


async def test_a_strict_ontology_excludes_relations_that_it_does_not_declare(
    store: Neo4jStore,
) -> None:
    strict = Ontology(PEOPLE.entity_types, PEOPLE.relation_types, strict=True)
    async with reading(store) as found:
        script_answers(found)
        found.script.facts.append(("Payments Guild", "ADMIRES", "Mira Okafor", {}))
        await store.ontologies.put_ontology(found.space, strict, None)
        counts = await found.intake.add(found.space, [found.episode("d1", MIRA)])
    assert counts.facts == 1
    [led] = await facts_of(store, found.space, "Mira Okafor")
    assert led.relation == "LEADS"


async def test_malformed_names_dates_and_relations_from_a_model_do_no_harm(
    store: Neo4jStore,
) -> None:
    text = 'Mira `Okafor` and "Anna" met at the \') MATCH (n) DETACH DELETE n // Inn.'
    async with reading(store) as found:
        found.script.entities = [("Mira `Okafor`", ""), ("') MATCH (n) DETACH DELETE n // Inn", "")]
        ends = [name for name, _ in found.script.entities]
        found.script.facts = [
            (ends[0], "MET `AT`; DROP", ends[1], {"valid_at": "2024-13-45"}),
            (ends[0], "LEFT", ends[1], {"valid_at": "2024-01-01", "invalid_at": "2023-01-01"}),
            (ends[0], "x" * 10_000, ends[1], {"fact": "y" * 10_000}),
        ]
        await found.intake.add(found.space, [found.episode("d1", text)])
    facts = await facts_of(store, found.space, ends[0])
    assert {one.relation for one in facts} == {"MET `AT`; DROP", "x" * 200}
    assert all(one.valid_at is None for one in facts)
