"""What Neo4j is trained with: companies like the sample's, each under names of its own."""

import protovalidate
import pytest

from braid.graph.v1 import ingest_pb2
from deploy.local.companies import Companies, renamed


@pytest.fixture(scope="module")
def companies() -> Companies:
    return Companies.load()


def test_names_of_several_words_become_a_companys_own_and_all_else_stays() -> None:
    text = "Jenkins was switched off by Sofia Marin of the Checkout Team on 14 April 2025."
    assert renamed(text, 27) == (
        "Jenkins was switched off by Bbon Sofia Marin of the Bbon Checkout Team on 14 April 2025."
    )


def test_each_paragraph_of_each_note_is_an_episode_of_a_batch_that_the_contract_takes(
    companies: Companies,
) -> None:
    episodes = list(companies.episodes(0))
    assert len(episodes) == sum(len(paragraphs) for _, paragraphs in companies.notes) > 100
    assert {episode.document_title for episode in episodes} == {
        f"Aaon {title}" for title, _ in companies.notes
    }
    protovalidate.validate(ingest_pb2.BatchAddEpisodesRequest(episodes=episodes))


def test_companies_share_no_episode_no_document_and_no_title(companies: Companies) -> None:
    one, other = (list(companies.episodes(number)) for number in (0, 1))
    for field in ("uuid", "document_id", "document_title"):
        assert not {getattr(e, field) for e in one} & {getattr(e, field) for e in other}


def test_facts_have_the_names_and_times_that_the_sample_states(companies: Companies) -> None:
    facts = list(companies.facts(0))
    owned = facts[0]
    assert (owned.subject.name, owned.relation) == ("Aaon Mira Okafor", "OWNS")
    assert owned.object.name == "Aaon Payments Service"
    assert owned.invalid_time.ToJsonString() == "2024-03-11T00:00:00Z"
    protovalidate.validate(ingest_pb2.AddFactsRequest(facts=facts))


def test_a_companys_questions_name_it(companies: Companies) -> None:
    assert next(companies.questions(1)).startswith("Who owned the Abon Ledger Service when")
