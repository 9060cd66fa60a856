"""The injected clock is offset by the seconds in its file; without a file it equals the machine's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.runtime import times
from tests.faults.jumping_clock import install

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "jump"), [("86400", DAY), ("-86400", -DAY), ("0", DAY * 0), ("", DAY * 0)]
)
def test_the_clock_is_offset_by_the_seconds_in_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, jump: timedelta
) -> None:
    monkeypatch.setattr(times, "utc_now", times.utc_now)  # restored at the end of the test
    file = tmp_path / "clock"
    install(file)
    assert abs(times.utc_now() - datetime.now(UTC)) < timedelta(minutes=1)
    file.write_text(text)
    assert abs(times.utc_now() - datetime.now(UTC) - jump) < timedelta(minutes=1)
