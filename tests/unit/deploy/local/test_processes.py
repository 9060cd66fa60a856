"""The processes of a local stack: workers and replicas in addition to the defaults."""

from __future__ import annotations

from deploy.local.processes import BRAID, has_replicas, with_replicas, with_workers


def test_one_worker_and_one_replica_is_the_default_stack() -> None:
    assert set(with_replicas(with_workers(1), 1)) == set(BRAID)


def test_replicas_exist_for_servers_only_and_only_the_first_one_migrates() -> None:
    specs = {spec.name: spec for spec in with_replicas(with_workers(1), 2)}
    assert specs.keys() - {spec.name for spec in BRAID} == {
        "vector_search_2",
        "graph_query_2",
        "agent_orchestrator_2",
        "gateway_2",
    }
    first, second = specs["vector_search"], specs["vector_search_2"]
    assert (second.program, second.target, second.scopes) == (
        first.program,
        first.target,
        first.scopes,
    )
    assert first.setup
    assert (second.setup, second.port) == ((), 0)


def test_the_number_of_workers_is_independent_of_the_number_of_replicas() -> None:
    names = [spec.name for spec in with_replicas(with_workers(3), 2)]
    assert [name for name in names if name.startswith("agent_worker")] == [
        "agent_worker",
        "agent_worker_2",
        "agent_worker_3",
    ]


def test_additional_workers_do_not_count_as_replicas() -> None:
    assert not has_replicas(with_replicas(with_workers(3), 1))
    assert has_replicas(with_replicas(with_workers(1), 2))
