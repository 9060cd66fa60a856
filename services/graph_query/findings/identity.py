"""Which findings are the same: by their caller's name for them, or else by all that they say."""

from __future__ import annotations

import json
from collections.abc import Iterable

from services.graph_query.findings.domain import FindingFields, GivenFinding
from services.graph_query.names import name_key
from services.runtime.ids import content_sha256, derived_uuid


def named_uuid(space: str, finding_id: str) -> str:
    """Uuid of the finding that a caller gave a name."""
    return derived_uuid("finding", space, "id", finding_id)


def finding_uuid(space: str, finding: GivenFinding, about_findings: Iterable[str]) -> str:
    """Uuid of a given finding; `about_findings` are uuids."""
    if finding.id:
        return named_uuid(space, finding.id)
    return derived_uuid("finding", space, "content", digest(finding, about_findings))


def candidates(space: str, reference: str) -> tuple[str, str]:
    """The uuids that a reference may mean: as a name first, then as a uuid."""
    return named_uuid(space, reference), reference.lower()


def digest(finding: GivenFinding, about_findings: Iterable[str]) -> str:
    """Digest of all that a finding says and is about; where it comes from is no part of it."""
    told = [_told(finding.fields), _subjects(finding), sorted(set(about_findings))]
    return content_sha256(json.dumps(told, ensure_ascii=False))


def _told(fields: FindingFields) -> list[object]:
    return [
        fields.kind.value,
        fields.statement,
        fields.type,
        fields.confidence,
        fields.methodology,
        fields.status,
        fields.priority,
        fields.owner,
        [list(metric) for metric in fields.metrics],
        list(fields.blockers),
    ]


def _subjects(finding: GivenFinding) -> list[tuple[str, str]]:
    return sorted({(name_key(end.name), end.type) for end in finding.about})
