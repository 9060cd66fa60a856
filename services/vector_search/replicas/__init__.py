"""Reads from streaming replicas of PostgreSQL, never in a state older than the caller's own writes."""
