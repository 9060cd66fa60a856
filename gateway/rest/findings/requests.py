"""Request bodies of findings, intents and outcomes, and their conversion to messages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from braid.common.v1.retrieval_pb2 import TimeRange
from braid.graph.v1 import findings_pb2
from gateway.rest.mapping.contract_rules import Bounds, Contract, ContractModel
from gateway.rest.mapping.field_types import (
    JsonBool,
    JsonNumber,
    JsonPageSize,
    Text,
    at_most,
)
from gateway.rest.mapping.times import Between

# The contract's maximum.
MAX_FINDINGS = 500
MAX_LINKED = 50
MAX_CHUNKS = 100
MAX_IDS = 200

Kind = Literal["finding", "intent", "outcome"]
Priority = Literal["low", "medium", "high", "critical"]
Origin = Literal["given", "extracted"]
_EXAMPLE: JsonDict = {
    "findings": [
        {
            "id": "review-2024-q2/1",
            "finding": {
                "key_insight": "Checkout times out when the Ledger Service restarts.",
                "type": "risk",
                "confidence": 0.8,
            },
            "about_entities": [{"name": "Ledger Service"}],
        }
    ]
}

_SEARCH_EXAMPLE: JsonDict = {
    "query": "why does checkout time out?",
    "filter": {"kinds": ["finding"], "confidence": {"at_least": 0.5}},
    "limit": 5,
}


class Insight(ContractModel):
    """Something found out."""

    contract: ClassVar[Contract] = findings_pb2.FindingDetails

    key_insight: Text = Field(description="The statement itself, 1–4,096 characters.")
    type: Text = Field(default="", description="What kind, such as risk, trend or cause.")
    confidence: JsonNumber | None = Field(default=None, description="How sure it is, 0–1.")
    methodology: Text = Field(default="", description="How it was found.")

    def message(self) -> findings_pb2.FindingDetails:
        """Converts it to the contract's message."""
        return findings_pb2.FindingDetails(
            key_insight=self.key_insight,
            type=self.type,
            confidence=self.confidence,
            methodology=self.methodology,
        )


class Intent(ContractModel):
    """Something somebody wants to reach."""

    contract: ClassVar[Contract] = findings_pb2.IntentDetails

    goal: Text = Field(description="What is to be reached, 1–4,096 characters.")
    status: Text = Field(default="", description="Such as planned, active or done.")
    priority: Priority | None = Field(default=None, description="How much it matters.")
    owner: Text = Field(default="", description="Whose it is.")

    def message(self) -> findings_pb2.IntentDetails:
        """Converts it to the contract's message."""
        return findings_pb2.IntentDetails(
            goal=self.goal, status=self.status, priority=priority(self.priority), owner=self.owner
        )


class Metric(ContractModel):
    """A measured number."""

    contract: ClassVar[Contract] = findings_pb2.Metric

    name: Text = Field(description="What was measured.")
    value: JsonNumber = Field(description="The number.")
    unit: Text = Field(default="", description="Its unit; empty when it has none.")


class Outcome(ContractModel):
    """What came of something."""

    contract: ClassVar[Contract] = findings_pb2.OutcomeDetails

    result: Text = Field(description="What was reached, 1–4,096 characters.")
    metrics: Annotated[list[Metric], at_most(MAX_LINKED)] = Field(
        default=[], description="What was measured, each name once."
    )
    blockers: Annotated[list[Text], at_most(MAX_LINKED)] = Field(
        default=[], description="What stood or stands in the way."
    )

    def message(self) -> findings_pb2.OutcomeDetails:
        """Converts it to the contract's message."""
        metrics = [
            findings_pb2.Metric(name=one.name, value=one.value, unit=one.unit)
            for one in self.metrics
        ]
        return findings_pb2.OutcomeDetails(
            result=self.result, metrics=metrics, blockers=self.blockers
        )


class Subject(ContractModel):
    """An entity by its name, any case, and its type where several share the name."""

    contract: ClassVar[Contract] = findings_pb2.FindingSubject

    name: Text = Field(description="Its name; letter case and repeated white space are ignored.")
    type: Text = Field(default="", description="Its type, where several share the name.")

    def message(self) -> findings_pb2.FindingSubject:
        """Converts it to the contract's message."""
        return findings_pb2.FindingSubject(name=self.name, type=self.type)


class FindingBody(ContractModel):
    """A finding, an intent or an outcome: exactly one of the three."""

    contract: ClassVar[Contract] = findings_pb2.FindingInput
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"id": "external_id", "about_findings": "about_finding_ids"}
    )

    id: Text = Field(
        default="",
        description="Your own name for it: sent again with other fields, it replaces what was there.",
    )
    finding: Insight | None = Field(default=None, description="Something found out.")
    intent: Intent | None = Field(default=None, description="Something wanted.")
    outcome: Outcome | None = Field(default=None, description="What came of something.")
    about_entities: Annotated[list[Subject], at_most(MAX_LINKED)] = Field(
        default=[], description="The entities it is about, at most 50."
    )
    about_findings: Annotated[list[Text], at_most(MAX_LINKED)] = Field(
        default=[], description="Other findings it is about, by `id` or uuid, at most 50."
    )
    chunk_ids: Annotated[list[Text], at_most(MAX_CHUNKS)] = Field(
        default=[],
        description="The chunks it comes from, at most 100. It goes when the last of them is deleted.",
    )

    @model_validator(mode="after")
    def _check_details(self) -> Self:
        if sum(one is not None for one in (self.finding, self.intent, self.outcome)) != 1:
            message = "must hold exactly one of finding, intent and outcome"
            raise PydanticCustomError("one_of", message)
        return self

    def message(self) -> findings_pb2.FindingInput:
        """Converts it to the contract's message."""
        return findings_pb2.FindingInput(
            external_id=self.id,
            finding=self.finding.message() if self.finding else None,
            intent=self.intent.message() if self.intent else None,
            outcome=self.outcome.message() if self.outcome else None,
            about_entities=[one.message() for one in self.about_entities],
            about_finding_ids=self.about_findings,
            chunk_ids=self.chunk_ids,
        )


class Findings(ContractModel):
    """Findings to add."""

    contract: ClassVar[Contract] = findings_pb2.AddFindingsRequest
    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    findings: Annotated[list[FindingBody], at_most(MAX_FINDINGS)] = Field(
        description="The findings, 1–500."
    )

    def message(self) -> findings_pb2.AddFindingsRequest:
        """Converts it to the contract's message."""
        return findings_pb2.AddFindingsRequest(findings=[one.message() for one in self.findings])


class Range(ContractModel):
    """Bounds of a number; those that are left out leave it open."""

    contract: ClassVar[Contract] = findings_pb2.NumberRange

    greater_than: JsonNumber | None = Field(default=None, description="Only numbers above it.")
    at_least: JsonNumber | None = Field(default=None, description="Only it and numbers above.")
    less_than: JsonNumber | None = Field(default=None, description="Only numbers below it.")
    at_most: JsonNumber | None = Field(default=None, description="Only it and numbers below.")

    def message(self) -> findings_pb2.NumberRange:
        """Converts it to the contract's message."""
        return findings_pb2.NumberRange(
            greater_than=self.greater_than,
            at_least=self.at_least,
            less_than=self.less_than,
            at_most=self.at_most,
        )


class MetricFilter(ContractModel):
    """A number that an outcome must have measured."""

    contract: ClassVar[Contract] = findings_pb2.MetricFilter

    name: Text = Field(description="The metric's name, any case.")
    value: Range | None = Field(default=None, description="Bounds of its value. Default: any.")

    def message(self) -> findings_pb2.MetricFilter:
        """Converts it to the contract's message."""
        value = self.value.message() if self.value else None
        return findings_pb2.MetricFilter(name=self.name, value=value)


class FindingFilter(ContractModel):
    """What findings must satisfy: every field that is given. Texts are compared in full, any case."""

    contract: ClassVar[Contract] = findings_pb2.FindingFilter
    names: ClassVar[Mapping[str, str]] = MappingProxyType({"about_finding": "about_finding_id"})

    kinds: Annotated[list[Kind], at_most(3)] = Field(default=[], description="Empty: all.")
    type: Text = Field(default="", description="Only findings of this type.")
    confidence: Range | None = Field(
        default=None, description="One of unknown confidence passes no bound."
    )
    methodology: Text = Field(default="", description="Only findings of this methodology.")
    status: Text = Field(default="", description="Only intents of this status.")
    priorities: Annotated[list[Priority], at_most(4)] = Field(
        default=[], description="Only intents of these."
    )
    owner: Text = Field(default="", description="Only intents of this owner.")
    metric: MetricFilter | None = Field(default=None, description="Only outcomes with this metric.")
    blocker: Text = Field(default="", description="Only outcomes with this blocker.")
    has_blockers: JsonBool | None = Field(
        default=None, description="Only outcomes with blockers, or everything without any."
    )
    about_entity: Subject | None = Field(
        default=None, description="Only findings about this entity."
    )
    about_finding: Text = Field(default="", description="By `id` or uuid.")
    chunk_id: Text = Field(default="", description="Only findings from this chunk.")
    origin: Origin | None = Field(default=None, description="Given by a caller, or extracted.")
    created: Between | None = Field(default=None, description="Only findings added in this span.")
    ids: Annotated[list[Text], at_most(MAX_IDS)] = Field(
        default=[], description="Only these, by `id` or uuid, at most 200."
    )

    def message(self) -> findings_pb2.FindingFilter:
        """Converts it to the contract's message."""
        return findings_pb2.FindingFilter(
            kinds=[kind(one) for one in self.kinds],
            type=self.type,
            confidence=self.confidence.message() if self.confidence else None,
            methodology=self.methodology,
            status=self.status,
            priorities=[priority(one) for one in self.priorities],
            owner=self.owner,
            metric=self.metric.message() if self.metric else None,
            blocker=self.blocker,
            has_blockers=self.has_blockers,
            about_entity=self.about_entity.message() if self.about_entity else None,
            about_finding_id=self.about_finding,
            chunk_id=self.chunk_id,
            origin=origin(self.origin),
            create_time=_span(self.created),
            ids=self.ids,
        )


class FindingSearch(ContractModel):
    """A search for findings, or without a query a listing of those that pass the filter."""

    contract: ClassVar[Contract] = findings_pb2.SearchFindingsRequest
    model_config = ConfigDict(json_schema_extra={"examples": [_SEARCH_EXAMPLE]})

    query: Text = Field(
        default="",
        description="What to look for, by words and by similarity. Empty: every finding that passes, newest first.",
    )
    filter: FindingFilter | None = Field(
        default=None, description="What they must satisfy. Default: nothing."
    )
    limit: Annotated[
        JsonPageSize | None, Bounds(findings_pb2.SearchFindingsRequest, "page_size")
    ] = Field(
        default=None, description="How many, up to 200; more counts as 200. Default, and 0: 20."
    )
    cursor: Annotated[Text, Bounds(findings_pb2.SearchFindingsRequest, "page_token")] = Field(
        default="", description="`next_cursor` of the page before; only without a query."
    )

    def message(self) -> findings_pb2.SearchFindingsRequest:
        """Converts it to the contract's message."""
        return findings_pb2.SearchFindingsRequest(
            query=self.query,
            filter=self.filter.message() if self.filter else None,
            page_size=self.limit or 0,
            page_token=self.cursor,
        )


def kind(name: Kind) -> findings_pb2.FindingKind.ValueType:
    """Converts a kind to the contract's enum."""
    return findings_pb2.FindingKind.Value(f"FINDING_KIND_{name.upper()}")


def priority(name: Priority | None) -> findings_pb2.IntentPriority.ValueType:
    """Converts a priority to the contract's enum; None is unknown."""
    return findings_pb2.IntentPriority.Value(f"INTENT_PRIORITY_{(name or 'unspecified').upper()}")


def origin(name: Origin | None) -> findings_pb2.FindingOrigin.ValueType:
    """Converts an origin to the contract's enum; None is any."""
    return findings_pb2.FindingOrigin.Value(f"FINDING_ORIGIN_{(name or 'unspecified').upper()}")


def _span(between: Between | None) -> TimeRange | None:
    return between.message() if between else None
