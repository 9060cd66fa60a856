"""Settings of the gateway are read leniently where that is safe, and refused where it is not."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.settings import GatewaySettings


def test_origins_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_CORS_ORIGINS", "https://app.example/, http://localhost:3000")
    settings = GatewaySettings(_env_file=None)
    assert settings.cors_origins == ("https://app.example", "http://localhost:3000")


@pytest.mark.parametrize(
    "given", ["*", "https://*.example", "app.example", "https://app.example/x"]
)
def test_only_whole_origins_may_be_allowed(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("BRAID_CORS_ORIGINS", given)
    with pytest.raises(ValidationError, match="must be origins"):
        GatewaySettings(_env_file=None)
