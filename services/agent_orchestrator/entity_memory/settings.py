"""Settings of entity memory, read from the environment only when they are built."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.agent_orchestrator.entity_memory.records import Limits


class EntityMemorySettings(BaseSettings):
    """`BRAID_GRAPH_ENTITY_*`: what is saved from users' statements."""

    model_config = SettingsConfigDict(
        env_prefix="BRAID_GRAPH_ENTITY_",
        env_file=".env",
        extra="ignore",
        env_ignore_empty=True,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    confidence_threshold: float = Field(
        default=0.7, ge=0, le=1, description="What is less sure is not saved."
    )
    max_entities_per_conversation: int = Field(default=20, ge=0, le=1_000_000)
    max_relationships_per_conversation: int = Field(default=30, ge=0, le=1_000_000)
    max_entities_per_day: int = Field(
        default=100, ge=0, le=1_000_000, description="New entities of a user, by days in UTC."
    )

    def limits(self) -> Limits:
        """Returns the settings as the domain's limits."""
        return Limits(
            self.confidence_threshold,
            self.max_entities_per_conversation,
            self.max_relationships_per_conversation,
            self.max_entities_per_day,
        )
