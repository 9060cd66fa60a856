"""The generated corpus."""

import itertools

from tests.benchmarks.generated import generated, new_queries


def test_the_same_seed_generates_the_same_corpus() -> None:
    assert generated(seed=5) == generated(seed=5)
    assert generated(seed=5) != generated(seed=6)


def test_ids_and_titles_are_unique_and_questions_refer_to_documents() -> None:
    data = generated(documents=1_000, questions=200)
    assert len({d.id for d in data.documents}) == len({d.title for d in data.documents}) == 1_000
    assert {g for q in data.questions for g in q.relevance} <= {d.id for d in data.documents}
    assert len({q.text for q in data.questions}) == 200


def test_new_queries_do_not_repeat() -> None:
    queries = list(itertools.islice(new_queries(generated(documents=8), seed=1), 500))
    assert len(set(queries)) == 500
