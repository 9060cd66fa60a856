"""A scripted language model that responds in the formats of OpenAI's and Anthropic's APIs.

    async with OpenAIStub() as stub:
        script = Script(entities=[("Mira Okafor", "Person")], facts=[("Mira Okafor", "LEADS", "Guild", {})])
        stub.routes |= script.routes()

A prompt is recognized by the name of the response schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.stubs.openai_server import Answer, Reply

Json = dict[str, Any]


@dataclass
class Script:
    """A model that extracts the same from every text.

    `entities` are names and declared types ("" for none). `facts` are subject, relation, object and further fields of
    the edge (`fact`, `valid_at`, `invalid_at`). `attributes` are responses by declared type. `contradicts` has the
    statements of the existing facts that end.
    """

    entities: list[tuple[str, str]] = field(default_factory=list)
    facts: list[tuple[str, str, str, Json]] = field(default_factory=list)
    attributes: dict[str, Json] = field(default_factory=dict)
    contradicts: list[str] = field(default_factory=list)
    findings: list[Json] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def routes(self) -> dict[str, Answer]:
        """Returns the endpoints of both providers."""
        return {"/v1/chat/completions": self._openai, "/v1/messages": self._anthropic}

    def answer(self, schema: str, prompt: str) -> Json:
        """Returns the response to a prompt with this response schema."""
        self.asked.append(schema)
        answers: dict[str, Callable[[str], Json]] = {
            "ExtractedEntities": self._entities,
            "ExtractedEdges": self._edges,
            "NodeResolutions": _all_new,
            "EdgeDuplicate": self._duplicates,
            "EdgeTimestamps": lambda _: {"valid_at": None, "invalid_at": None},
            "SummarizedEntities": lambda _: {"summaries": []},
            "findings": lambda _: {"findings": self.findings},
        }
        return answers[schema](prompt) if schema in answers else self.attributes.get(schema, {})

    def _entities(self, prompt: str) -> Json:
        ids = dict(_type_ids(prompt))
        named = [
            {"name": name, "entity_type_id": ids.get(kind, 0)}
            for name, kind in self.entities
            if name.casefold() in prompt.casefold()
        ]
        return {"extracted_entities": named}

    def _edges(self, prompt: str) -> Json:
        edges = [
            {
                "source_entity_name": source,
                "target_entity_name": target,
                "relation_type": relation,
                "fact": f"{source} {relation.lower()} {target}",
                "valid_at": None,
                "invalid_at": None,
                **more,
            }
            for source, relation, target, more in self.facts
            if source.casefold() in prompt.casefold() and target.casefold() in prompt.casefold()
        ]
        return {"edges": edges}

    def _duplicates(self, prompt: str) -> Json:
        listed = re.findall(r"['\"]idx['\"]: (\d+), ['\"]fact['\"]: ['\"](.*?)['\"]}", prompt)
        ended = [int(place) for place, fact in listed if fact in self.contradicts]
        return {"duplicate_facts": [], "contradicted_facts": ended}

    def _openai(self, request: Json) -> Reply:
        wanted = request["response_format"]["json_schema"]["name"]
        prompt = "\n".join(message["content"] for message in request["messages"])
        content = json.dumps(self.answer(wanted, prompt))
        body = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": content},
                }
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }
        return Reply(body=json.dumps(body).encode())

    def _anthropic(self, request: Json) -> Reply:
        wanted = request["tool_choice"]["name"]
        prompt = "\n".join(message["content"] for message in request["messages"])
        body = {
            "id": "x",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "stop_reason": "tool_use",
            "content": [
                {
                    "type": "tool_use",
                    "id": "y",
                    "name": wanted,
                    "input": self.answer(wanted, prompt),
                }
            ],
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        return Reply(body=json.dumps(body).encode())


def _type_ids(prompt: str) -> list[tuple[str, int]]:
    found = re.findall(
        r"['\"]entity_type_id['\"]: (\d+), ['\"]entity_type_name['\"]: ['\"](\w+)['\"]", prompt
    )
    return [(name, int(number)) for number, name in found]


def _all_new(prompt: str) -> Json:
    """Returns that every entity is new; the model is not asked about exact matches of known names."""
    numbers = re.findall(r"['\"]id['\"]: (\d+)", prompt)
    return {
        "entity_resolutions": [
            {"id": int(number), "name": "", "duplicate_candidate_id": -1} for number in numbers
        ]
    }
