"""Converts a run to a chat completion, whole or in chunks. Clients do not see Braid's tool calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from braid.agent.v1 import agent_pb2
from gateway.rest.openai.text_limit import TextLimit, tokens_of

_FINISH = {agent_pb2.RUN_END_LENGTH: "length"}


@dataclass(slots=True)
class Completion:
    """One completion; `prompt`, `base_url` and `limit` are the request's."""

    model: str
    prompt: str
    base_url: str
    created: int
    limit: TextLimit = field(default_factory=TextLimit)
    id: str = ""
    citations: list[agent_pb2.AnswerCitation] = field(default_factory=list)
    _answer: str = ""
    _tokens: tuple[int, int] | None = None
    _finish: str = "stop"
    _has_text: bool = False
    _restarted: bool = False

    def take(self, event: agent_pb2.RunEvent) -> None:
        """Adds an event to the completion."""
        match event.WhichOneof("event"):
            case "started":
                self.id = f"chatcmpl-{event.started.run_id}"
            case "citation":
                self.citations.append(event.citation)
            case "usage":
                used = event.usage
                if used.input_token_count:
                    self._tokens = used.input_token_count, used.output_token_count
            case "done":
                self._answer = event.done.answer
                self._finish = _FINISH.get(event.done.end, "stop")

    def whole(self) -> dict[str, Any]:
        """Returns the completion as one object."""
        self._answer = self.limit.take(self._answer) + self.limit.rest()
        message = {
            "role": "assistant",
            "content": self._answer,
            "refusal": None,
            "annotations": self._annotations(len(self._answer)),
        }
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": self.limit.finish_reason or self._finish,
            "logprobs": None,
        }
        return {
            **self._head("chat.completion"),
            "choices": [choice],
            "usage": self.usage(),
            **self._sources(),
        }

    def first(self) -> dict[str, Any]:
        """Returns the first chunk."""
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, event: agent_pb2.TextAdded) -> dict[str, Any] | None:
        """Returns a chunk of text, if any may be sent now.

        Streamed text cannot be withdrawn: a restarted answer begins on a new line, and its sources are not marked.
        """
        self._restarted |= event.restart and self._has_text
        parted = "\n\n" if event.restart and self._has_text else ""
        self._has_text = True
        text = self.limit.take(parted + event.text)
        return self._chunk({"content": text}) if text else None

    def last(self) -> dict[str, Any]:
        """Returns the last chunk of the choice, with the sources."""
        delta: dict[str, Any] = {}
        if rest := self.limit.rest():
            delta["content"] = rest
        if not (self._restarted or self.limit.finish_reason):
            delta["annotations"] = self._annotations(len(self._answer))
        return {**self._chunk(delta, self.limit.finish_reason or self._finish), **self._sources()}

    def usage_chunk(self) -> dict[str, Any]:
        """Returns the chunk with usage that `include_usage` requests."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": self.usage()}

    def usage(self) -> dict[str, int]:
        """Returns token counts of the provider; estimates if no provider was used."""
        read, written = self._tokens or (tokens_of(self.prompt), tokens_of(self._answer))
        return {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def _annotations(self, end: int) -> list[dict[str, Any]]:
        """Returns the marks of sources in the text up to its end."""
        return [
            self._annotation(cited, span)
            for cited in self.citations
            for span in cited.spans
            if span.end <= end
        ]

    def _annotation(
        self, cited: agent_pb2.AnswerCitation, span: agent_pb2.TextSpan
    ) -> dict[str, Any]:
        return {
            "type": "url_citation",
            "url_citation": {
                "start_index": span.start,
                "end_index": span.end,
                "title": cited.document_title or cited.document_id,
                "url": self._url(cited),
            },
        }

    def _sources(self) -> dict[str, Any]:
        """Returns the sources in the order of their numbers, in the form of Perplexity's answers."""
        return {
            "citations": [self._url(cited) for cited in self.citations],
            "search_results": [
                {
                    "number": cited.number,
                    "title": cited.document_title or cited.document_id,
                    "url": self._url(cited),
                    "source": cited.source,
                    "document_id": cited.document_id,
                    "chunk_id": cited.chunk_id,
                    "start_char": cited.start_char,
                    "end_char": cited.end_char,
                    "snippet": cited.quote,
                }
                for cited in self.citations
            ],
        }

    def _url(self, cited: agent_pb2.AnswerCitation) -> str:
        if cited.source.startswith(("http://", "https://")):
            return cited.source
        return f"{self.base_url}/api/documents/{quote(cited.document_id, safe='')}"
