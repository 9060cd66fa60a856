"""Idempotency keys in PostgreSQL."""
