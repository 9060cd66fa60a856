"""Given vectors are normalized to length 1 and refused if that is impossible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.errors import InvalidFieldError
from services.vector_search.domain import unit_vector

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(FLOATS, min_size=1, max_size=64).filter(lambda v: max(map(abs, v)) > 1e-30))
def test_any_finite_vector_is_normalized_to_length_1(values: list[float]) -> None:
    vector = unit_vector(values, "field")
    assert vector.dtype == np.float32
    assert float(np.linalg.norm(vector.astype(np.float64))) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("values", [[0.0, 0.0], [float("nan"), 1], [float("inf"), 1], [1.0] * 4001])
def test_zeros_nan_infinity_and_too_many_values_are_refused(values: list[float]) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        unit_vector(values, "document.chunks[0].embedding")
    assert refused.value.fields[0].field == "document.chunks[0].embedding"
