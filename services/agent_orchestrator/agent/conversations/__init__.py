"""Conversations of users with the agent: stored in PostgreSQL, answered one question at a time."""
