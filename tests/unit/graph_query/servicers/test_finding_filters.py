"""Blank filters are rejected, so that none of them becomes a filter that matches everything."""

from __future__ import annotations

import pytest

from braid.graph.v1 import findings_pb2
from services.graph_query.core.domain import EntityName
from services.graph_query.findings.domain import FindingFields, FindingKind, GivenFinding
from services.graph_query.findings.planning import BLANK_NAME, Planner
from services.graph_query.servicers.fact_mapping import fact_filter
from services.graph_query.servicers.finding_mapping import finding_filter
from services.runtime.errors import InvalidFieldError

BLANKS = ["\u00a0", "\u3000", "\u2003 \u2029", " "]


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_entity_name_in_a_fact_filter_is_rejected(blank: str) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        fact_filter(None, blank)
    assert [wrong.field for wrong in refused.value.fields] == ["entity_name"]
    assert fact_filter(None, "").entity_key == ""
    assert fact_filter(None, "\u00a0Ada\u3000").entity_key == "ada"


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("field", ["type", "methodology", "status", "owner", "blocker"])
def test_a_blank_text_in_a_finding_filter_is_rejected(field: str, blank: str) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        finding_filter("s", findings_pb2.FindingFilter(**{field: blank}))  # type: ignore[arg-type]
    assert [wrong.field for wrong in refused.value.fields] == [f"filter.{field}"]


@pytest.mark.parametrize(
    ("field", "path"),
    [(None, "filter"), ("metric", "filter.metric"), ("confidence", "filter.confidence")],
)
def test_a_filter_with_unknown_fields_is_rejected(field: str | None, path: str) -> None:
    message = findings_pb2.FindingFilter()
    message_with_unknown_field = getattr(message, field) if field else message
    message_with_unknown_field.MergeFromString(b"\xca\x3e\x01x")
    with pytest.raises(
        InvalidFieldError, match=f"^{path}: has fields that are not known here: number 1001$"
    ):
        finding_filter("s", message)


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_entity_name_in_a_finding_filter_is_rejected(blank: str) -> None:
    about = findings_pb2.FindingSubject(name=blank)
    with pytest.raises(InvalidFieldError) as refused:
        finding_filter("s", findings_pb2.FindingFilter(about_entity=about))
    assert [wrong.field for wrong in refused.value.fields] == ["filter.about_entity.name"]


@pytest.mark.parametrize("blank", BLANKS)
def test_a_finding_about_an_entity_with_a_blank_name_is_rejected(blank: str) -> None:
    fields = FindingFields(kind=FindingKind.FINDING, statement="It works.")
    given = [GivenFinding(fields, about=(EntityName(name, ""),)) for name in (blank, "Ada")]
    plan = Planner("s", (), {}, ()).plan(given)
    assert plan.refused == ((0, BLANK_NAME),)
    assert len(plan.puts) == 1
