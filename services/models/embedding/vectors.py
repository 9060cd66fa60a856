"""Matrices of embeddings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

_ROWS_AND_VALUES = 2


def empty(dimension: int) -> Matrix:
    """Returns an empty matrix of shape (0, dimension)."""
    return np.zeros((0, dimension), dtype=np.float32)


def unit_rows(rows: npt.ArrayLike) -> Matrix:
    """Returns rows scaled to length 1, float32. Raises ValueError unless (n, d), finite and without a zero row."""
    matrix: npt.NDArray[np.float64] = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != _ROWS_AND_VALUES:
        raise ValueError("vectors are not a matrix")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not (norms > 0).all():
        raise ValueError("a vector is zero or not finite")
    scaled: Matrix = (matrix / norms).astype(np.float32)
    return scaled
