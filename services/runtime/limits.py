"""What more than one service holds its callers to."""

from __future__ import annotations

MOST_LEVELS = 32
"""Of values within values of metadata: protobuf reads no deeper messages, and an answer holds it within some."""
