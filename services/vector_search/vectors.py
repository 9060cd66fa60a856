"""Given vectors: checked, and brought to length 1 before anything is computed with them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from services.runtime.errors import FieldError, InvalidFieldError
from services.vector_search.domain import MAX_DIMENSION, Vector


def unit_vector(values: Iterable[float], field: str) -> Vector:
    """The values as float32 of length 1. InvalidFieldError for NaN, infinity, zeros and too many values."""
    vector: Vector = np.array(values, dtype=np.float32)
    if len(vector) > MAX_DIMENSION:
        raise InvalidFieldError(
            FieldError(field, f"must not have more than {MAX_DIMENSION} values")
        )
    # In double precision: in single, squares and sums of large floats overflow.
    wide = vector.astype(np.float64)
    length = float(np.linalg.norm(wide))
    if not np.isfinite(length):
        raise InvalidFieldError(FieldError(field, "must consist of finite numbers"))
    if length == 0:
        raise InvalidFieldError(FieldError(field, "must not be all zeros"))
    return (wide / length).astype(np.float32)
