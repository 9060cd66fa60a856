"""A language model that is built like those of the tiers, with a scripted provider."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from services.models.language.factory import build_language_model
from services.models.language.model import LanguageModel
from services.models.language.settings import LanguageModelSettings
from tests.stubs.language import Script
from tests.stubs.openai_server import OpenAIStub


@asynccontextmanager
async def scripted_model(
    script: Script, provider: str = "openai", seconds: float = 20.0
) -> AsyncIterator[tuple[LanguageModel, OpenAIStub]]:
    """Yields the model and its scripted provider."""
    async with OpenAIStub() as stub:
        stub.routes |= script.routes()
        url = stub.base_url if provider == "openai" else stub.base_url.removesuffix("/v1")
        settings = LanguageModelSettings(
            _env_file=None,
            provider=provider,
            api_key=SecretStr("sk-test"),
            base_url=url,
            seconds=seconds,
            attempt_seconds=5,
        )
        model = build_language_model(settings)
        assert model is not None
        try:
            yield model, stub
        finally:
            await model.close()
