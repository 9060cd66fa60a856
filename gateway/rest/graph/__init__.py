"""`/api/graph/…`."""
