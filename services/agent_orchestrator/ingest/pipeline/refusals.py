"""Classifies a tier's refusal of a batch: the space's model or state, or a valid time already used."""

from __future__ import annotations

import re

from braid.common.v1 import errors_pb2
from services.runtime.errors import VALID_TIME_TAKEN, VIOLATION, BraidError

# Failures that concern the space or the worker's own key, whatever is sent.
_OF_THE_WHOLE_BATCH = frozenset(
    {
        errors_pb2.ERROR_REASON_WRONG_STATE,
        errors_pb2.ERROR_REASON_INVALID_CREDENTIAL,
        errors_pb2.ERROR_REASON_MISSING_SCOPE,
    }
)

_MODEL_FIELD = "embedding_model"
_VECTOR_FIELD = re.compile(r"documents\[\d{1,9}\]\.chunks\[\d{1,9}\]\.embedding")
_TIME_FIELD = re.compile(r"documents\[(\d{1,9})\]\.valid_time")


def is_of_the_whole_batch(error: BraidError) -> bool:
    """Whether the failure concerns every document alike, such as a wrong model."""
    return error.reason in _OF_THE_WHOLE_BATCH or any(
        field.field == _MODEL_FIELD for field in error.fields
    )


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
