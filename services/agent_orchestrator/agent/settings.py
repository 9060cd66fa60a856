"""Settings of the agent, read from the environment only when they are built."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.agent_orchestrator.entity_memory.settings import EntityMemorySettings
from services.models.language.settings import LanguageModelSettings


class AnswerSettings(BaseSettings):
    """`BRAID_ANSWER_*`: limits of questions to the agent. Times are in seconds."""

    model_config = SettingsConfigDict(
        env_prefix="BRAID_ANSWER_",
        env_file=".env",
        extra="ignore",
        env_ignore_empty=True,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    run_seconds: float = Field(
        default=120.0, gt=0, le=3600, description="For one answer, when its caller sets no less."
    )
    conversation_wait_seconds: float = Field(
        default=10.0,
        ge=0,
        le=600,
        description="How long a question waits for the one before it in its conversation.",
    )
    resume_seconds: float = Field(
        default=10.0, ge=0, le=3600, description="How long a run goes on when nobody reads it."
    )
    tool_seconds: float = Field(default=10.0, gt=0, le=600, description="For a tool's call.")
    tool_calls_at_once: int = Field(
        default=8, ge=1, le=1_000, description="Calls to the tiers that all runs make side by side."
    )
    max_runs: int = Field(default=200, ge=1, description="Runs at once; one more is refused.")
    history_tokens: int = Field(
        default=4_000, ge=100, description="Of a conversation's earlier turns, given to the model."
    )
    keep_days: int = Field(default=7, ge=1, description="How long runs can be read again.")


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The agent's settings, and the language models in the order they are tried; the local planner comes last."""

    settings: AnswerSettings = field(default_factory=AnswerSettings.model_construct)
    models: tuple[LanguageModelSettings, ...] = ()
    memory: EntityMemorySettings = field(default_factory=EntityMemorySettings.model_construct)
