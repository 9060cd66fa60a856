"""Wrong settings end a process in a line for each, by the name that the environment has for it."""

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
# What pydantic would say of a value that it shows.
SECRET = "s3cret-value"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """None of the machine's own settings, and no `.env` file."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(PREFIXES):
            monkeypatch.delenv(name)


def told_of(kind: type[BaseSettings]) -> list[str]:
    """What is said of wrong settings."""
    with pytest.raises(SystemExit) as ended:
        read_settings(kind)
    return str(ended.value).splitlines()


def test_settings_that_are_right_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_DRAIN_SECONDS", "7")
    assert read_settings(RuntimeSettings).drain_seconds == 7


@pytest.mark.parametrize(
    ("kind", "name", "value", "told"),
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
def test_a_wrong_setting_is_told_by_its_name_without_its_value(
    monkeypatch: pytest.MonkeyPatch, kind: type[BaseSettings], name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(name, value)
    assert told_of(kind) == [f"{name} {told}"]


def test_each_wrong_setting_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_VECTOR_POOL_SIZE", "abc")
    assert told_of(VectorSettings) == [
        "DATABASE_URL is needed",
        "BRAID_VECTOR_POOL_SIZE must be a whole number",
    ]
    assert told_of(GraphSettings) == ["NEO4J_PASSWORD is needed"]


def test_settings_that_do_not_go_together_are_told_in_our_own_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "openai")
    assert told_of(EmbeddingSettings) == [
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
def test_every_process_ends_so(monkeypatch: pytest.MonkeyPatch, main: Callable[[], object]) -> None:
    monkeypatch.setenv("BRAID_LOG_LEVEL", SECRET)
    with pytest.raises(SystemExit, match=r"^BRAID_LOG_LEVEL must be 'debug', [^\n]*$"):
        main()


@pytest.mark.parametrize("serve", [serve_orchestrator, serve_worker])
async def test_what_the_orchestrator_reads_as_it_begins_to_serve_too(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[..., object]
) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "Local")
    with pytest.raises(SystemExit, match=r"^EMBEDDING_PROVIDER must be"):
        await serve(AgentSettings(), RuntimeSettings())  # type: ignore[misc]
