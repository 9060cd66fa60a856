"""How long a search's legs may take, what a job waits for, and how much may wait."""

from __future__ import annotations

from collections import Counter
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.pipeline.graph_turn import is_suspicious
from services.agent_orchestrator.ingest.pipeline.refusals import is_of_a_document
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
        (LanguageModelUnavailable("HTTP 429"), True, False),
        (AnswerUnusable("malformed answer"), False, False),
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
    assert is_transient(error) == waits
    assert is_of_a_document(error) == blames_a_document


def test_a_defect_is_told_with_the_request_that_the_logs_have_it_under() -> None:
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
def test_a_document_is_suspected_only_when_nothing_but_the_graph_itself_failed(
    error: BraidError, may_be: bool
) -> None:
    assert is_suspicious(error) == may_be


def test_a_reason_leaves_out_positions_that_the_caller_never_sent() -> None:
    error = InvalidFieldError(FieldError("documents[3].title", "is too long"))
    assert reason_of(error) == "is too long"


async def test_work_that_never_succeeds_ends_with_its_last_failure() -> None:
    async def fail() -> None:
        raise StoreUnavailableError("neo4j", retry_after=0.01)

    with pytest.raises(StoreUnavailableError):
        await Retries(0.15).run(fail)


class Counted:
    """A database that tells what waits, by space."""

    def __init__(self, jobs: int = 0, size: int = 0, **spaces: int) -> None:
        self.waiting = {name: Waiting(count, count) for name, count in spaces.items()}
        if jobs or size:
            self.waiting["busy"] = Waiting(jobs, size)

    async def backlog(self) -> dict[str, Waiting]:
        return self.waiting


async def test_a_full_backlog_refuses_jobs_and_bytes_until_one_leaves() -> None:
    backlog = Backlog(Counted(), max_jobs=2, max_bytes=10)
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


async def test_what_waits_in_the_database_counts_whoever_accepted_it() -> None:
    with pytest.raises(OverloadedError):
        await Backlog(Counted(jobs=2), max_jobs=2, max_bytes=10).check("a")
    with pytest.raises(OverloadedError):
        await Backlog(Counted(size=8), max_jobs=2, max_bytes=10).check("a", 3)
    await Backlog(Counted(jobs=1, size=8), max_jobs=2, max_bytes=10).check("a", 2)


async def test_what_was_just_accepted_counts_before_the_database_is_asked_again() -> None:
    backlog = Backlog(Counted(), max_jobs=9, max_bytes=10)
    place = await backlog.enter("a")
    place.hold(8)
    place.accepted()
    with pytest.raises(OverloadedError):
        (await backlog.enter("b")).hold(3)


@given(st.lists(st.sampled_from("abcd"), max_size=60), st.integers(min_value=2, max_value=40))
async def test_no_space_takes_the_last_place_from_one_that_holds_nothing(
    callers: list[str], most: int
) -> None:
    backlog = Backlog(Counted(), max_jobs=most, max_bytes=10)
    held: Counter[str] = Counter()
    for space in callers:
        try:
            (await backlog.enter(space)).accepted()
        except OverloadedError:
            assert held.total() == most or held[space] + 1 > 4 * (most - held.total() - 1)
        else:
            held[space] += 1
    assert held.total() <= most
    for count in held.values():
        assert count == 1 or count <= 4 * (most - count)


async def test_one_busy_space_leaves_a_fifth_of_the_places_and_of_the_bytes() -> None:
    with pytest.raises(OverloadedError):
        await Backlog(Counted(busy=80), max_jobs=100, max_bytes=1000).check("busy")
    await Backlog(Counted(busy=79), max_jobs=100, max_bytes=1000).check("busy")
    await Backlog(Counted(busy=80), max_jobs=100, max_bytes=1000).check("other", 900)
    full = Backlog(Counted(jobs=1, size=80), max_jobs=100, max_bytes=100)
    with pytest.raises(OverloadedError):
        await full.check("busy", 1)
    await full.check("other", 20)


async def test_a_spaces_only_upload_may_be_as_large_as_there_is_room() -> None:
    place = await Backlog(Counted(), max_jobs=2, max_bytes=100).enter("a")
    for _ in range(100):
        place.hold(1)
    with pytest.raises(OverloadedError):
        place.hold(1)
