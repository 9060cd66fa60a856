"""`/memories`, `/graph/stats` and `/inference/…`: typed memories, at the root and under `/api`."""
