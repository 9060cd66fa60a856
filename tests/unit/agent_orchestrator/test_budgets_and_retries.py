"""How long a search's legs may take, what a job waits for, and how much may wait."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.graph_turn import is_suspicious
from services.agent_orchestrator.ingest.retries import Retries, is_of_a_document, told, will_pass
from services.agent_orchestrator.jobs.store import Waiting
from services.agent_orchestrator.search.comprehensive import MAX_MARGIN, leg_budget
from services.models.errors import LanguageModelUnavailable, TextsRefused
from services.runtime.errors import (
    BraidError,
    DeadlineError,
    EmbedderUnavailableError,
    FieldError,
    InternalError,
    InvalidFieldError,
    NotFoundError,
    OverloadedError,
    StoreUnavailableError,
    WrongStateError,
)

TOO_LARGE = OverloadedError(0)
TOO_LARGE.retry_after = None


@given(st.floats(min_value=0.001, max_value=3600))
def test_the_legs_get_most_of_the_time_and_never_all_of_it(left: float) -> None:
    budget = leg_budget(left)
    assert left / 2 <= budget < left
    assert left - budget <= MAX_MARGIN + 1e-9


@pytest.mark.parametrize(
    ("error", "waits", "blames_a_document"),
    [
        (StoreUnavailableError("neo4j"), True, False),
        (EmbedderUnavailableError(), True, False),
        (TextsRefused("HTTP 400"), False, False),
        (DeadlineError(), True, False),
        (OverloadedError(0.5), True, False),
        (TOO_LARGE, False, True),
        (InvalidFieldError(FieldError("f", "is wrong")), False, True),
        (InternalError(), False, True),
        (WrongStateError("another model"), False, False),
        (NotFoundError("document"), False, False),
    ],
)
def test_what_waiting_can_help_and_what_one_document_may_be_to_blame_for(
    error: BraidError, waits: bool, blames_a_document: bool
) -> None:
    assert will_pass(error) == waits
    assert is_of_a_document(error) == blames_a_document


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
def test_a_document_is_suspected_only_when_nothing_but_the_graph_itself_failed(
    error: BraidError, may_be: bool
) -> None:
    assert is_suspicious(error) == may_be


def test_a_reason_leaves_out_positions_that_the_caller_never_sent() -> None:
    error = InvalidFieldError(FieldError("documents[3].title", "is too long"))
    assert told(error) == "is too long"


async def test_work_that_never_succeeds_ends_with_its_last_failure() -> None:
    async def fail() -> None:
        raise StoreUnavailableError("neo4j", retry_after=0.01)

    with pytest.raises(StoreUnavailableError):
        await Retries(0.15).run(fail)


class Counted:
    """A database that tells what waits."""

    def __init__(self, jobs: int = 0, size: int = 0) -> None:
        self.waiting = Waiting(jobs, size)

    async def backlog(self) -> Waiting:
        return self.waiting


async def test_a_full_backlog_refuses_jobs_and_bytes_until_one_leaves() -> None:
    backlog = Backlog(Counted(), max_jobs=2, max_bytes=10)
    first, second = await backlog.enter(), await backlog.enter()
    with pytest.raises(OverloadedError):
        await backlog.enter()
    first.hold(9)
    with pytest.raises(OverloadedError):
        second.hold(2)
    first.leave()
    first.leave()
    second.hold(10)
    with pytest.raises(OverloadedError):
        await backlog.enter()
    second.leave()
    (await backlog.enter()).hold(10)


async def test_what_waits_in_the_database_counts_whoever_accepted_it() -> None:
    with pytest.raises(OverloadedError):
        await Backlog(Counted(jobs=2), max_jobs=2, max_bytes=10).check()
    with pytest.raises(OverloadedError):
        await Backlog(Counted(size=8), max_jobs=2, max_bytes=10).check(3)
    await Backlog(Counted(jobs=1, size=8), max_jobs=2, max_bytes=10).check(2)


async def test_what_was_just_accepted_counts_before_the_database_is_asked_again() -> None:
    backlog = Backlog(Counted(), max_jobs=9, max_bytes=10)
    place = await backlog.enter()
    place.hold(8)
    place.accepted()
    with pytest.raises(OverloadedError):
        (await backlog.enter()).hold(3)
