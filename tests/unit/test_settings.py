"""Every setting is listed in `.env.example`, and a copy of that file changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import AliasChoices
from pydantic_settings import BaseSettings

from gateway.settings import GatewaySettings
from services.agent_orchestrator.entity_memory.settings import EntityMemorySettings
from services.agent_orchestrator.settings import AgentSettings
from services.graph_query.settings import GraphSettings
from services.models.embedding.settings import EmbeddingSettings
from services.models.language.settings import LanguageModelSettings
from services.models.reranking.settings import RerankerSettings
from services.runtime.settings import RuntimeSettings
from services.vector_search.settings import VectorSettings

EXAMPLE = Path(__file__).parents[2] / ".env.example"
CLASSES: list[type[BaseSettings]] = [
    AgentSettings,
    EmbeddingSettings,
    EntityMemorySettings,
    GatewaySettings,
    GraphSettings,
    LanguageModelSettings,
    RerankerSettings,
    RuntimeSettings,
    VectorSettings,
]
# Store addresses have no default: the local stack passes them to its processes.
STORES = {"DATABASE_URL": "postgresql://db/braid", "NEO4J_URI": "bolt://db", "NEO4J_PASSWORD": "pw"}
# Set by the desktop environment, not by Braid.
FOREIGN = {"XDG_CACHE_HOME"}


def names(settings: type[BaseSettings]) -> set[str]:
    """Returns the environment variables that a class reads."""
    found = set()
    for field, info in settings.model_fields.items():
        alias = info.validation_alias
        if isinstance(alias, AliasChoices):
            found.add(str(alias.choices[0]))
        else:
            prefix = settings.model_config.get("env_prefix", "")
            found.add(str(alias or f"{prefix}{field}").upper())
    return found


def listed() -> set[str]:
    lines = EXAMPLE.read_text().splitlines()
    return {line.lstrip("# ").partition("=")[0] for line in lines if "=" in line}


@pytest.mark.parametrize("settings", CLASSES)
def test_every_setting_is_in_the_example(settings: type[BaseSettings]) -> None:
    assert names(settings) - FOREIGN <= listed()


@pytest.mark.parametrize("settings", CLASSES)
def test_a_copy_of_the_example_changes_nothing(
    settings: type[BaseSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in STORES.items():
        monkeypatch.setenv(name, value)
    assert settings(_env_file=EXAMPLE) == settings(_env_file=None)
