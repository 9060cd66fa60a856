"""Time budgets of search legs, classification of job errors, and limits of the ingest backlog."""

from __future__ import annotations

from collections import Counter
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.pipeline.graph_turn import is_suspicious
from services.agent_orchestrator.ingest.pipeline.isolation import Blame, blame_of
from services.agent_orchestrator.jobs.queue import Turn
from services.agent_orchestrator.jobs.retries import Retries, is_transient, reason_of
from services.agent_orchestrator.jobs.store import Waiting
from services.agent_orchestrator.jobs.time_slice import call_of
from services.agent_orchestrator.search.comprehensive import MAX_MARGIN, leg_budget
from services.models.errors import AnswerUnusable, LanguageModelUnavailable, TextsRefused
from services.runtime.context import call_scope
from services.runtime.errors import (
    INTERNAL_MESSAGE,
    BraidError,
    DeadlineError,
    EmbedderUnavailableError,
    FieldError,
    InternalError,
    InvalidCredentialError,
    InvalidFieldError,
    NotFoundError,
    OverloadedError,
    StoreUnavailableError,
    WrongStateError,
)

TOO_LARGE = OverloadedError(0)
TOO_LARGE.retry_after = None


@given(st.floats(min_value=0.001, max_value=3600))
def test_the_legs_get_at_least_half_of_the_time_but_never_all_of_it(left: float) -> None:
    budget = leg_budget(left)
    assert left / 2 <= budget < left
    assert left - budget <= MAX_MARGIN + 1e-9


@pytest.mark.parametrize(
    ("error", "waits", "blame"),
    [
        (StoreUnavailableError("neo4j"), True, Blame.TIER),
        (LanguageModelUnavailable("HTTP 429"), True, Blame.TIER),
        (AnswerUnusable("malformed answer"), False, Blame.TIER),
        (EmbedderUnavailableError(), True, Blame.TIER),
        (DeadlineError(), True, Blame.TIER),
        (OverloadedError(0.5), True, Blame.TIER),
        (TOO_LARGE, False, Blame.ITEM),
        (InvalidFieldError(FieldError("f", "is wrong")), False, Blame.ITEM),
        (InvalidFieldError(FieldError("embedding_model", "is wrong")), False, Blame.TIER),
        (
            InvalidFieldError(FieldError("documents[1].chunks[0].embedding", "is long")),
            False,
            Blame.UNKNOWN,
        ),
        (InternalError(), False, Blame.UNKNOWN),
        (WrongStateError("another model"), False, Blame.TIER),
        (InvalidCredentialError(), False, Blame.TIER),
        (NotFoundError("document"), False, Blame.UNKNOWN),
    ],
)
def test_errors_are_classified_as_transient_and_by_whose_fault_they_are(
    error: BraidError, waits: bool, blame: Blame
) -> None:
    assert is_transient(error) == waits
    assert blame_of(error) is blame


def test_refused_texts_are_not_transient() -> None:
    assert not is_transient(TextsRefused("HTTP 400"))


def test_the_reason_for_an_internal_error_names_the_request_id() -> None:
    turn = Turn(7, "search", "space", uuid4())
    assert reason_of(InternalError()) == INTERNAL_MESSAGE
    with call_scope(call_of(turn, "space")) as call:
        assert reason_of(InternalError()) == f"{INTERNAL_MESSAGE} It is {call.request_id}."


@pytest.mark.parametrize(
    ("error", "may_be"),
    [
        (StoreUnavailableError("neo4j"), True),
        (StoreUnavailableError("neo4j", 5.0), False),
        (LanguageModelUnavailable("circuit open"), False),
        (StoreUnavailableError("service"), False),
        (DeadlineError(), True),
        (OverloadedError(0.5), False),
        (EmbedderUnavailableError(), False),
    ],
)
def test_a_document_is_suspected_only_if_nothing_but_the_graph_itself_failed(
    error: BraidError, may_be: bool
) -> None:
    assert is_suspicious(error) == may_be


def test_a_reason_omits_field_paths_that_the_caller_never_sent() -> None:
    error = InvalidFieldError(FieldError("documents[3].title", "is too long"))
    assert reason_of(error) == "is too long"


async def test_retries_without_success_end_with_the_last_failure() -> None:
    async def fail() -> None:
        raise StoreUnavailableError("neo4j", retry_after=0.01)

    with pytest.raises(StoreUnavailableError):
        await Retries(0.15).run(fail)


class StubDatabase:
    """A database with a fixed amount of waiting work in each space."""

    def __init__(self, jobs: int = 0, size: int = 0, **spaces: int) -> None:
        self.waiting = {name: Waiting(count, count) for name, count in spaces.items()}
        if jobs or size:
            self.waiting["busy"] = Waiting(jobs, size)

    async def backlog(self) -> dict[str, Waiting]:
        return self.waiting


async def test_a_full_backlog_rejects_jobs_and_bytes_until_a_job_leaves() -> None:
    backlog = Backlog(StubDatabase(), max_jobs=2, max_bytes=10)
    first, second = await backlog.enter("a"), await backlog.enter("b")
    with pytest.raises(OverloadedError):
        await backlog.enter("c")
    first.hold(9)
    with pytest.raises(OverloadedError):
        second.hold(2)
    first.leave()
    first.leave()
    second.hold(10)
    with pytest.raises(OverloadedError):
        await backlog.enter("c")
    second.leave()
    (await backlog.enter("c")).hold(10)


async def test_work_that_waits_in_the_database_counts_toward_the_limits() -> None:
    with pytest.raises(OverloadedError):
        await Backlog(StubDatabase(jobs=2), max_jobs=2, max_bytes=10).check("a")
    with pytest.raises(OverloadedError):
        await Backlog(StubDatabase(size=8), max_jobs=2, max_bytes=10).check("a", 3)
    await Backlog(StubDatabase(jobs=1, size=8), max_jobs=2, max_bytes=10).check("a", 2)


async def test_accepted_work_counts_before_the_database_is_queried_again() -> None:
    backlog = Backlog(StubDatabase(), max_jobs=9, max_bytes=10)
    place = await backlog.enter("a")
    place.hold(8)
    place.accepted()
    with pytest.raises(OverloadedError):
        (await backlog.enter("b")).hold(3)


@given(st.lists(st.sampled_from("abcd"), max_size=60), st.integers(min_value=2, max_value=40))
async def test_a_space_with_several_jobs_leaves_places_for_other_spaces(
    callers: list[str], limit: int
) -> None:
    backlog = Backlog(StubDatabase(), max_jobs=limit, max_bytes=10)
    accepted: Counter[str] = Counter()
    for space in callers:
        try:
            (await backlog.enter(space)).accepted()
        except OverloadedError:
            assert accepted.total() == limit or accepted[space] + 1 > 4 * (
                limit - accepted.total() - 1
            )
        else:
            accepted[space] += 1
    assert accepted.total() <= limit
    for count in accepted.values():
        assert count == 1 or count <= 4 * (limit - count)


async def test_a_busy_space_leaves_a_fifth_of_the_places_and_bytes_free() -> None:
    with pytest.raises(OverloadedError):
        await Backlog(StubDatabase(busy=80), max_jobs=100, max_bytes=1000).check("busy")
    await Backlog(StubDatabase(busy=79), max_jobs=100, max_bytes=1000).check("busy")
    await Backlog(StubDatabase(busy=80), max_jobs=100, max_bytes=1000).check("other", 900)
    full = Backlog(StubDatabase(jobs=1, size=80), max_jobs=100, max_bytes=100)
    with pytest.raises(OverloadedError):
        await full.check("busy", 1)
    await full.check("other", 20)


async def test_the_only_upload_of_a_space_may_use_all_remaining_bytes() -> None:
    place = await Backlog(StubDatabase(), max_jobs=2, max_bytes=100).enter("a")
    for _ in range(100):
        place.hold(1)
    with pytest.raises(OverloadedError):
        place.hold(1)
