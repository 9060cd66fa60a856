"""Invalid settings end a process with one line for each, which names its environment variable."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_settings import BaseSettings

from gateway.__main__ import main as gateway
from services.agent_orchestrator.__main__ import main as agent_orchestrator
from services.agent_orchestrator.server import serve_orchestrator, serve_worker
from services.agent_orchestrator.settings import AgentSettings
from services.graph_query.__main__ import main as graph_query
from services.graph_query.settings import GraphSettings
from services.models.embedding.settings import EmbeddingSettings
from services.models.language.settings import LanguageModelSettings
from services.runtime.read_settings import read_settings
from services.runtime.settings import RuntimeSettings
from services.vector_search.__main__ import main as vector_search
from services.vector_search.settings import VectorSettings

PREFIXES = ("BRAID_", "EMBEDDING_", "LLM_", "NEO4J_", "DATABASE_")
# An invalid value, which pydantic would show in its message.
SECRET = "s3cret-value"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Removes the machine's own settings and any `.env` file."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(PREFIXES):
            monkeypatch.delenv(name)


def messages_for(kind: type[BaseSettings]) -> list[str]:
    """Returns the lines that are printed for invalid settings."""
    with pytest.raises(SystemExit) as ended:
        read_settings(kind)
    return str(ended.value).splitlines()


def test_valid_settings_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_DRAIN_SECONDS", "7")
    assert read_settings(RuntimeSettings).drain_seconds == 7


@pytest.mark.parametrize(
    ("kind", "name", "value", "problem"),
    [
        (AgentSettings, "BRAID_AGENT_POOL_SIZE", SECRET, "must be a whole number"),
        (AgentSettings, "BRAID_AGENT_POOL_SIZE", "2", "must be greater than or equal to 3"),
        (RuntimeSettings, "BRAID_DRAIN_SECONDS", SECRET, "must be a number"),
        (RuntimeSettings, "BRAID_ALLOW_LOCAL", SECRET, "must be true or false"),
        (EmbeddingSettings, "EMBEDDING_PROVIDER", "Local", "must be 'local' or 'openai'"),
        (LanguageModelSettings, "LLM_PROVIDER", SECRET, "must be 'openai' or 'anthropic'"),
        (
            LanguageModelSettings,
            "LLM_TOKENS_PER_MINUTE",
            "9" * 5_000,
            "must be a whole number of fewer digits",
        ),
    ],
)
def test_an_invalid_setting_is_reported_by_its_name_without_its_value(
    monkeypatch: pytest.MonkeyPatch, kind: type[BaseSettings], name: str, value: str, problem: str
) -> None:
    monkeypatch.setenv(name, value)
    assert messages_for(kind) == [f"{name} {problem}"]


def test_each_invalid_setting_has_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_VECTOR_POOL_SIZE", "abc")
    assert messages_for(VectorSettings) == [
        "DATABASE_URL is needed",
        "BRAID_VECTOR_POOL_SIZE must be a whole number",
    ]
    assert messages_for(GraphSettings) == ["NEO4J_PASSWORD is needed"]


def test_settings_that_do_not_fit_together_are_reported_in_plain_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "openai")
    assert messages_for(EmbeddingSettings) == [
        "EMBEDDING_API_KEY or EMBEDDING_BASE_URL is needed for openai"
    ]


@pytest.mark.parametrize(
    "main",
    [
        gateway,
        graph_query,
        lambda: vector_search(["migrate"]),
        lambda: vector_search([]),
        lambda: agent_orchestrator([]),
        lambda: agent_orchestrator(["--worker"]),
    ],
)
def test_every_process_exits_with_a_message_about_an_invalid_setting(
    monkeypatch: pytest.MonkeyPatch, main: Callable[[], object]
) -> None:
    monkeypatch.setenv("BRAID_LOG_LEVEL", SECRET)
    with pytest.raises(SystemExit, match=r"^BRAID_LOG_LEVEL must be 'debug', [^\n]*$"):
        main()


@pytest.mark.parametrize("serve", [serve_orchestrator, serve_worker])
async def test_settings_that_the_orchestrator_reads_when_it_serves_are_reported_too(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[..., object]
) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "Local")
    with pytest.raises(SystemExit, match=r"^EMBEDDING_PROVIDER must be"):
        await serve(AgentSettings(), RuntimeSettings())  # type: ignore[misc]
