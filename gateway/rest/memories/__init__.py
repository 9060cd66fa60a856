"""`/memories`, `/graph/stats` and `/inference/run`: typed memories, at the root and under `/api`."""
