"""What a language model may answer when it is asked for findings: the contract's bounds, and nothing else."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError


def _text(value: object) -> object:
    """Null is how an answer leaves a text out; NUL is no character of the graph's."""
    if value is None:
        return ""
    return value.replace("\x00", "").strip() if isinstance(value, str) else value


def _list(value: object) -> object:
    return [] if value is None else value


_Short = Annotated[str, BeforeValidator(_text), Field(default="", max_length=100)]
_Name = Annotated[str, BeforeValidator(_text), Field(max_length=200)]
_Long = Annotated[str, BeforeValidator(_text), Field(max_length=1_000)]
_NULLS = BeforeValidator(_list)


class ExtractedMetric(BaseModel):
    """A measured number."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    name: Annotated[_Name, Field(min_length=1)]
    value: float
    unit: Annotated[str, BeforeValidator(_text), Field(max_length=50)] = ""


class ExtractedFinding(BaseModel):
    """One statement; fields of other kinds than its own are ignored."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    kind: Literal["finding", "intent", "outcome"]
    statement: Annotated[str, BeforeValidator(_text), Field(max_length=4_096)]
    type: _Short = ""
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    methodology: _Long = ""
    status: _Short = ""
    priority: _Short = ""
    owner: _Name = ""
    metrics: Annotated[list[ExtractedMetric], _NULLS, Field(max_length=50)] = []
    blockers: Annotated[list[_Long], _NULLS, Field(max_length=50)] = []
    entities: Annotated[list[_Long], _NULLS, Field(max_length=50)] = []
    about: Annotated[list[int], _NULLS, Field(max_length=50)] = []


class ExtractedFindings(BaseModel):
    """All statements of a passage: the shape that is asked for."""

    findings: list[ExtractedFinding]


class _Answer(BaseModel):
    """An answer of which single statements may be out of shape."""

    findings: list[Any]


def read_answer(text: str) -> list[ExtractedFinding]:
    """The statements of an answer; those that break a bound are left out. ValueError when it is no such object."""
    found = []
    for item in _Answer.model_validate_json(text).findings:
        try:
            found.append(ExtractedFinding.model_validate(item))
        except ValidationError:
            continue
    return found
