"""Answers by any endpoint with OpenAI's `/v1/chat/completions` API. Importing it is slow."""

from __future__ import annotations

import logging
import re
from typing import Any

import openai

from services.models.language.failures import (
    cut_off,
    reading,
    refused_here,
    sending,
    status_failure,
)
from services.models.language.limited_model import ProviderFailed
from services.models.language.model import Completion, Prompt
from services.models.retry_after import retry_after

_REASONING = re.compile(r"o\d|gpt-[5-9]")


class OpenAIChat:
    """A connection pool to one endpoint. No I/O until `ask`."""

    def __init__(self, *, model: str, base_url: str, api_key: str) -> None:
        # At DEBUG the library logs whole requests, including the prompts.
        logging.getLogger("openai").setLevel(logging.WARNING)
        self._model = model
        self._client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0)
        # Accessed here, in the thread that connects: the library imports this part of itself on first access.
        self._completions = self._client.chat.completions

    async def ask(self, prompt: Prompt) -> Completion:
        """Makes one attempt. Raises ProviderFailed."""
        try:
            with sending():
                answer = await self._send(prompt)
        except openai.APIStatusError as error:
            raise status_failure(error.status_code, retry_after(error.response.headers)) from None
        except openai.APIError as error:
            raise ProviderFailed(type(error).__name__, passing=True, broken=True) from None
        except openai.OpenAIError as error:
            raise refused_here(error) from None
        with reading():
            return _completion(answer)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _send(self, prompt: Prompt) -> Any:
        more: dict[str, Any] = {}
        if prompt.schema is not None:
            schema = {"name": prompt.schema_name, "schema": dict(prompt.schema)}
            more["response_format"] = {"type": "json_schema", "json_schema": schema}
        return await self._completions.create(
            model=self._model,
            messages=[
                {"role": message.role.value, "content": message.text}  # type: ignore[misc]
                for message in prompt.messages
            ],
            **_allowance(self._model, prompt.max_tokens),
            **more,
        )


def _allowance(model: str, tokens: int) -> dict[str, Any]:
    """Returns the token limit: `max_tokens` for compatible servers; reasoning models refuse it, and any temperature."""
    if _REASONING.match(model):
        return {"max_completion_tokens": tokens}
    return {"max_tokens": tokens, "temperature": 0}


def _completion(answer: Any) -> Completion:
    choice = answer.choices[0]
    text = choice.message.content
    if choice.finish_reason == "length":
        raise cut_off()
    if not isinstance(text, str):
        raise TypeError("no text")
    usage = answer.usage
    if usage is None:
        return Completion(text)
    return Completion(text, usage.prompt_tokens, usage.completion_tokens)
