"""The space's nodes and relationships as rows, in the order in which they can be stored again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from neo4j.exceptions import ClientError

from services.graph_query.core.intervals import OPEN
from services.graph_query.core.names import RESERVED_TYPES
from services.graph_query.local_extraction.gazetteer import Gazetteer
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.space_writer import SpaceWriter, Write
from services.graph_query.transfer.row_format import row_as_json, row_from_json
from services.runtime.space_rows import (
    Place,
    RowsPage,
    fitting,
    not_a_token,
    page_of,
    refused_rows,
    rows_to_read,
    unknown_kind,
)

_TIMED: tuple[Any, ...] = (-OPEN, "", "")
_TEXTS: tuple[Any, ...] = ("", "", "")


class Kind(NamedTuple):
    """A kind of rows, the label that a node of it must have, and the key before all."""

    name: str
    label: str = ""
    first: tuple[Any, ...] = _TEXTS


# What others refer to comes first, and the space's own node, which makes all searchable, last.
KINDS = (
    Kind("ontologies", "BraidOntology"),
    Kind("documents", "Document"),
    Kind("episodes", "Episodic"),
    Kind("passages", "BraidPassage"),
    Kind("entities", "Entity"),
    Kind("names", "EntityName"),
    Kind("mentions"),
    Kind("co_occurrences"),
    Kind("facts", first=_TIMED),
    Kind("fact_versions", "FactVersion", _TIMED),
    Kind("claims", "FactClaim"),
    Kind("fact_endings", "FactEnding"),
    Kind("fact_aliases", "BraidFactAlias"),
    Kind("fact_sources", "BraidFactSource"),
    Kind("past_claims", "BraidPastClaim"),
    Kind("past_endings", "BraidPastEnding"),
    Kind("findings", "BraidFinding"),
    Kind("finding_subjects", "BraidSubject"),
    Kind("finding_sources", "BraidSource"),
    Kind("finding_links"),
    Kind("relations"),
    Kind("quarantines", "BraidQuarantine"),
    Kind("quarantined", "BraidQuarantined"),
    Kind("space"),
)
_MENTIONS = frozenset({"BRAID_MENTIONS", "MENTIONS"})
_FURTHER_LABELS = {"fact_versions": frozenset({"BraidPastFact"})}
_FINDING_LINKS = {
    ("ABOUT", "BraidSubject"): "import_finding_subjects",
    ("ABOUT", "BraidFinding"): "import_finding_findings",
    ("FROM", "BraidSource"): "import_finding_sources",
}

# Queries of kinds that are not just nodes.
_OF_THEIR_OWN = {
    "ontologies": "import_ontology",
    "mentions": "import_mentions",
    "co_occurrences": "import_co_occurrences",
    "facts": "import_facts",
    "relations": "import_relations",
}


class TransferStore(Protocol):
    """Reads and writes a space's graph for archives. Raises what `GraphStore` raises."""

    async def read(self, space: str, place: Place) -> RowsPage:
        """Returns a page of rows. Raises InvalidFieldError for a place that the space does not have."""

    async def write(
        self, space: str, import_id: str, number: int, kind: str, rows: Sequence[str]
    ) -> None:
        """Stores page `number` of an import once. Raises InvalidFieldError for what no known version has exported."""


class Neo4jTransfer:
    """Implements `TransferStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def read(self, space: str, place: Place) -> RowsPage:
        """See `TransferStore`."""
        if place.step >= len(KINDS):
            raise not_a_token()
        # Read first: rows that another write changes meanwhile then belong to a later revision than the page says.
        state = await self._database.read("relation_revision", space=space)
        kind = KINDS[place.step]
        after = list(kind.first) if place.after is None else json.loads(place.after)
        read = await self._database.read(
            f"export_{kind.name}", space=space, after=after, limit=rows_to_read()
        )
        found = fitting([(row_as_json(row["exported"]), json.dumps(row["key"])) for row in read])
        return page_of(place, [one.name for one in KINDS], found, state[0]["revision"])

    async def write(
        self, space: str, import_id: str, number: int, kind: str, rows: Sequence[str]
    ) -> None:
        """See `TransferStore`."""
        known = {one.name: one for one in KINDS}
        if kind not in known:
            raise unknown_kind()
        given = [row_from_json(row) for row in rows]
        _check(known[kind], given)

        async def work(writer: SpaceWriter) -> None:
            if await writer.read("has_imported", id=import_id, number=number):
                return
            await _store(writer, kind, given)
            await writer.note("note_import", id=import_id, number=number)

        try:
            await self._write(space, work)
        except ClientError as error:
            if error.code and error.code.startswith(
                ("Neo.ClientError.Schema", "Neo.ClientError.Statement")
            ):
                raise refused_rows() from None
            raise


def _check(kind: Kind, rows: Sequence[dict[str, Any]]) -> None:
    """Raises InvalidFieldError unless the rows are of their kind: an import creates no label or type of another."""
    for row in rows:
        if kind.label and not _are_labels_of(kind, row.get("labels")):
            raise refused_rows()
        if kind.name == "mentions" and row.get("type") not in _MENTIONS:
            raise refused_rows()
        if (
            kind.name == "finding_links"
            and (row.get("type"), row.get("label")) not in _FINDING_LINKS
        ):
            raise refused_rows()


def _are_labels_of(kind: Kind, labels: object) -> bool:
    """Whether a node of the kind may have these labels: its own, and an entity its types, which callers have chosen."""
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return False
    others = set(labels) - {kind.label}
    if kind.name == "entities":
        return kind.label in labels and not others & RESERVED_TYPES
    return kind.label in labels and others <= _FURTHER_LABELS.get(kind.name, frozenset())


async def _store(writer: SpaceWriter, kind: str, rows: Sequence[dict[str, Any]]) -> None:
    if kind == "space" and rows:
        await writer.write("import_space", row=rows[0])
        names = await writer.read("gazetteer_names")
        writer.gazetteer = Gazetteer.of({row["key"]: tuple(row["uuids"]) for row in names})
        writer.names_changed = True
        return
    for query, those in _parts(kind, rows):
        stored = await writer.note(query, rows=those) if those else ()
        # A relationship whose ends do not both exist would be lost without a word.
        if stored and stored[0]["stored"] != len(those):
            raise refused_rows()


def _parts(kind: str, rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Returns the queries that store the rows of a kind, each with its rows."""
    if kind == "finding_links":
        for link, query in _FINDING_LINKS.items():
            yield query, [row for row in rows if (row["type"], row["label"]) == link]
    elif kind in _OF_THEIR_OWN:
        yield _OF_THEIR_OWN[kind], list(rows)
    else:
        yield "import_nodes", list(rows)
        yield "link_imported_episodes", [row for row in rows if row.get("document")]
