"""Classifies a tier's refusal of a batch: one of its documents, the space's model, or a valid time already used."""

from __future__ import annotations

import re

from braid.common.v1 import errors_pb2
from services.agent_orchestrator.jobs.retries import is_transient
from services.runtime.errors import VALID_TIME_TAKEN, VIOLATION, BraidError

# Failures that one document can cause; the others of its batch continue without it.
_OF_A_DOCUMENT = frozenset(
    {errors_pb2.ERROR_REASON_INVALID_FIELD, errors_pb2.ERROR_REASON_INTERNAL}
)

_MODEL_FIELD = "embedding_model"
_VECTOR_FIELD = re.compile(r"documents\[\d{1,9}\]\.chunks\[\d{1,9}\]\.embedding")
_TIME_FIELD = re.compile(r"documents\[(\d{1,9})\]\.valid_time")


def is_of_a_document(error: BraidError) -> bool:
    """Whether the failure may concern a single document; a wrong model concerns every document."""
    if any(field.field == _MODEL_FIELD for field in error.fields):
        return False
    overload = error.reason == errors_pb2.ERROR_REASON_OVERLOADED
    return error.reason in _OF_A_DOCUMENT or (overload and not is_transient(error))


def is_of_the_model(error: BraidError) -> bool:
    """Whether the failure is that vectors have another model or length than the space's vectors."""
    return any(
        field.field == _MODEL_FIELD or _VECTOR_FIELD.fullmatch(field.field)
        for field in error.fields
    )


def valid_time_conflict_index(error: BraidError) -> int | None:
    """Returns the index of the document whose valid time another of its versions has; None for other failures."""
    if error.metadata.get(VIOLATION) != VALID_TIME_TAKEN:
        return None
    found = (_TIME_FIELD.fullmatch(field.field) for field in error.fields)
    return next((int(match[1]) for match in found if match), None)
