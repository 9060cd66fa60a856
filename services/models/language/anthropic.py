"""Answers by Anthropic's `/v1/messages`. Importing it is slow."""

from __future__ import annotations

import json
import logging
from typing import Any

import anthropic

from services.models.language.failures import (
    cut_off,
    reading,
    refused_here,
    sending,
    status_failure,
)
from services.models.language.limited_model import ProviderFailed
from services.models.language.model import Completion, Prompt, Role
from services.models.retry_after import retry_after

# Every attempt has a shorter timeout of ours; without any, the library refuses to request long answers.
_SECONDS = 3_600.0


class AnthropicMessages:
    """A connection pool to one endpoint. No I/O until `ask`."""

    def __init__(self, *, model: str, base_url: str, api_key: str) -> None:
        # At DEBUG the library logs whole requests, including the prompts.
        logging.getLogger("anthropic").setLevel(logging.WARNING)
        self._model = model
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=_SECONDS
        )

    async def ask(self, prompt: Prompt) -> Completion:
        """Makes one attempt. Raises ProviderFailed."""
        try:
            with sending():
                answer = await self._send(prompt)
        except anthropic.APIStatusError as error:
            raise status_failure(error.status_code, retry_after(error.response.headers)) from None
        except anthropic.APIError as error:
            raise ProviderFailed(type(error).__name__, passing=True, broken=True) from None
        except anthropic.AnthropicError as error:
            raise refused_here(error) from None
        with reading():
            return _completion(answer, prompt)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _send(self, prompt: Prompt) -> Any:
        system = [message.text for message in prompt.messages if message.role is Role.SYSTEM]
        more: dict[str, Any] = {"system": "\n\n".join(system)} if system else {}
        if prompt.schema is not None:
            # A forced tool call, which every model in use supports.
            tool = {"name": prompt.schema_name, "input_schema": dict(prompt.schema)}
            more["tools"] = [tool]
            more["tool_choice"] = {"type": "tool", "name": prompt.schema_name}
        return await self._client.messages.create(
            model=self._model,
            max_tokens=prompt.max_tokens,
            messages=[
                {"role": message.role.value, "content": message.text}
                for message in prompt.messages
                if message.role is not Role.SYSTEM
            ],
            **more,
        )


def _completion(answer: Any, prompt: Prompt) -> Completion:
    if answer.stop_reason == "max_tokens":
        raise cut_off()
    if prompt.schema is None:
        text = "".join(block.text for block in answer.content if block.type == "text")
    else:
        text = json.dumps(_input(answer))
    return Completion(text, answer.usage.input_tokens, answer.usage.output_tokens)


def _input(answer: Any) -> Any:
    used = [block.input for block in answer.content if block.type == "tool_use"]
    if not used:
        raise ValueError("no answer")
    return used[0]
