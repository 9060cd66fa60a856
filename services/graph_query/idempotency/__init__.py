"""Idempotency keys of the calls that write to the graph."""
