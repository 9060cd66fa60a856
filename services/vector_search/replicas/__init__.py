"""Reads from streaming replicas of PostgreSQL, never of a state before what a caller has written."""
