"""The versions of a document have no gaps and no overlaps in time, in whatever order they are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.errors import InvalidFieldError
from services.vector_search.documents.versions import StoredVersion, plan_version, same_content
from services.vector_search.domain import FOREVER
from tests.store_suite.vector.builders import document, year

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = st.integers(0, 10**10).map(lambda seconds: year(1800) + timedelta(seconds=seconds))


def written(times: list[datetime]) -> list[StoredVersion]:
    """Returns the versions after one write for each time, in this order."""
    stored: list[StoredVersion] = []
    for when in times:
        plan = plan_version(stored, document("d", str(when), valid_time=when), NOW)
        stored = [
            StoredVersion(v.version, v.valid_from, plan.valid_from, v.content_hash)
            if v.version == plan.closes
            else v
            for v in stored
        ]
        stored.append(StoredVersion(plan.version, plan.valid_from, plan.valid_until, str(when)))
    return stored


@given(st.lists(TIMES, min_size=1, max_size=12, unique=True))
def test_every_instant_after_the_first_has_exactly_one_version(times: list[datetime]) -> None:
    stored = sorted(written(times), key=lambda version: version.valid_from)
    ends = [version.valid_until for version in stored]
    assert ends == [*(version.valid_from for version in stored[1:]), FOREVER]
    assert [v.valid_from for v in stored] == sorted(times)
    assert sorted(v.version for v in stored) == list(range(1, len(times) + 1))


@given(st.lists(TIMES, min_size=1, max_size=8, unique=True), st.data())
def test_a_duplicate_valid_time_is_refused(times: list[datetime], data: st.DataObject) -> None:
    taken = data.draw(st.sampled_from(times))
    with pytest.raises(InvalidFieldError):
        plan_version(written(times), document("d", "x", valid_time=taken), NOW)


def test_without_a_valid_time_a_version_is_valid_from_now() -> None:
    assert plan_version([], document("d", "x"), NOW).valid_from == NOW


def test_versions_written_at_one_instant_follow_each_other() -> None:
    stored = [StoredVersion(1, NOW, FOREVER, "hash")]
    plan = plan_version(stored, document("d", "x"), NOW)
    assert plan.valid_from == NOW + timedelta(microseconds=1)
    assert plan.closes == 1


def test_content_of_the_current_version_is_the_same() -> None:
    new = document("d", "x")
    stored = [StoredVersion(1, year(2001), FOREVER, new.content_hash)]
    assert same_content(stored, new, NOW) == stored[0]


def test_content_of_a_superseded_version_counts_as_new() -> None:
    new = document("d", "x")
    stored = [
        StoredVersion(1, year(2001), year(2002), new.content_hash),
        StoredVersion(2, year(2002), FOREVER, "other"),
    ]
    assert same_content(stored, new, NOW) is None
