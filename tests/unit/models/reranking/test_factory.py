"""A local reranking model that cannot be used is reported at start."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from services.models.local.model_files import MS_MARCO_MINILM
from services.models.reranking import factory


async def test_a_file_with_another_digest_is_logged_as_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = {**MS_MARCO_MINILM.digests, MS_MARCO_MINILM.weights: "0" * 64}
    monkeypatch.setattr(factory, "MS_MARCO_MINILM", replace(MS_MARCO_MINILM, digests=changed))
    with capture_logs() as logged:
        await factory.report_unusable_cross_encoder()
    [entry] = logged
    assert entry["log_level"] == "error"
    assert "has another SHA-256 than expected; reinstall" in entry["cause"]


async def test_intact_files_are_not_mentioned() -> None:
    with capture_logs() as logged:
        await factory.report_unusable_cross_encoder()
    assert logged == []
