"""The registry of tools, and which of them a caller sees."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mcp.types import Tool as ToolDescription
from mcp.types import ToolAnnotations
from pydantic import BaseModel

from gateway.mcp.calls import Profile, ToolCall
from gateway.mcp.results import ToolResult
from gateway.mcp.tools import (
    ask,
    changes,
    documents,
    entities,
    entity_memory,
    facts,
    ingest,
    search,
)

Listing = Literal["default", "default-reading", "all"]
_READ = "read"
_WRITE = "write"
_EVERYWHERE: frozenset[Listing] = frozenset({"default", "default-reading", "all"})
_DEFAULT: frozenset[Listing] = frozenset({"default", "default-reading"})
_ON_DEMAND: frozenset[Listing] = frozenset({"all"})
# Listed by default for callers that may only read, in place of a tool that also writes.
_FOR_READERS: frozenset[Listing] = frozenset({"default-reading", "all"})


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its function has its name, and its docstring as description."""

    run: Callable[[Any, ToolCall], Awaitable[ToolResult]]
    arguments: type[BaseModel]
    result: type[ToolResult]
    title: str
    listings: frozenset[Listing]
    scope: str = _READ

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.run.__name__

    @property
    def writes(self) -> bool:
        """Whether it changes data."""
        return self.scope != _READ

    def description(self) -> ToolDescription:
        """The tool as a list of tools shows it."""
        return ToolDescription(
            name=self.name,
            title=self.title,
            description=self.run.__doc__,
            input_schema=self.arguments.model_json_schema(),
            output_schema=self.result.model_json_schema(),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=not self.writes,
                destructive_hint=False,
                idempotent_hint=not self.writes,
                open_world_hint=False,
            ),
        )


def _tools() -> tuple[Tool, ...]:
    return (
        Tool(search.search, search.SearchArguments, search.SearchResult, "Search", _EVERYWHERE),
        Tool(facts.facts, facts.FactsArguments, facts.FactsResult, "Facts", _DEFAULT),
        Tool(entities.entity, entities.EntityArguments, entities.EntityResult, "Entity", _DEFAULT),
        Tool(changes.changes, changes.ChangesArguments, changes.ChangesResult, "Changes", _DEFAULT),
        Tool(
            documents.documents,
            documents.DocumentsArguments,
            documents.DocumentsViewResult,
            "Documents and uploads",
            _DEFAULT,
        ),
        Tool(ask.ask, ask.AskArguments, ask.AskResult, "Ask", _EVERYWHERE),
        Tool(
            ingest.ingest_text,
            ingest.IngestTextArguments,
            ingest.JobResult,
            "Add a text",
            _EVERYWHERE,
            _WRITE,
        ),
        Tool(
            entity_memory.memory,
            entity_memory.MemoryArguments,
            entity_memory.MemoryResult,
            "Memory",
            _DEFAULT,
            _WRITE,
        ),
        Tool(
            entity_memory.memory_query,
            entity_memory.MemoryQueryArguments,
            entity_memory.MemoryResult,
            "Query the memory",
            _FOR_READERS,
        ),
        Tool(
            entity_memory.memory_context,
            entity_memory.MemoryContextArguments,
            entity_memory.MemoryResult,
            "Text of the memory",
            _ON_DEMAND,
        ),
        Tool(
            entity_memory.memory_save,
            entity_memory.MemorySaveArguments,
            entity_memory.MemoryResult,
            "Save to the memory",
            _ON_DEMAND,
            _WRITE,
        ),
        Tool(
            facts.search_facts,
            facts.SearchFactsArguments,
            facts.FactsResult,
            "Search facts",
            _ON_DEMAND,
        ),
        Tool(
            facts.list_facts, facts.ListFactsArguments, facts.FactsResult, "List facts", _ON_DEMAND
        ),
        Tool(
            entities.neighborhood,
            entities.NeighborhoodArguments,
            entities.NeighborhoodResult,
            "Neighborhood",
            _ON_DEMAND,
        ),
        Tool(
            entities.history,
            entities.HistoryArguments,
            entities.HistoryResult,
            "History",
            _ON_DEMAND,
        ),
        Tool(entities.paths, entities.PathsArguments, entities.PathsResult, "Paths", _ON_DEMAND),
        Tool(
            entities.list_entities,
            entities.ListEntitiesArguments,
            entities.EntitiesResult,
            "List entities",
            _ON_DEMAND,
        ),
        Tool(
            changes.snapshot,
            changes.SnapshotArguments,
            changes.SnapshotResult,
            "Snapshot",
            _ON_DEMAND,
        ),
        Tool(changes.diff, changes.DiffArguments, changes.DiffResult, "Difference", _ON_DEMAND),
        Tool(
            documents.list_documents,
            documents.ListDocumentsArguments,
            documents.DocumentsResult,
            "List documents",
            _ON_DEMAND,
        ),
        Tool(
            documents.read_document,
            documents.ReadDocumentArguments,
            documents.DocumentResult,
            "Read a document",
            _ON_DEMAND,
        ),
        Tool(ingest.job_state, ingest.JobStateArguments, ingest.JobResult, "Job state", _ON_DEMAND),
        Tool(
            ingest.list_jobs, ingest.ListJobsArguments, ingest.JobsResult, "List jobs", _ON_DEMAND
        ),
    )


class Registry:
    """All tools by name, with descriptions computed once."""

    def __init__(self) -> None:
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in _tools()}
        self._descriptions = {tool.name: tool.description() for tool in self._tools.values()}

    def find(self, name: str) -> Tool | None:
        """Returns a tool by its name, for any caller."""
        return self._tools.get(name)

    def names(self, profile: Profile, *, read_only: bool, scopes: frozenset[str]) -> list[str]:
        """Returns the names of the tools that a caller sees."""
        reads_only = read_only or _WRITE not in scopes
        listing: Listing = "default-reading" if reads_only and profile == "default" else profile
        return [
            tool.name
            for tool in self._tools.values()
            if listing in tool.listings and tool.scope in scopes and not (read_only and tool.writes)
        ]

    def description(self, name: str) -> ToolDescription:
        """A tool as a list of tools shows it."""
        return self._descriptions[name]
