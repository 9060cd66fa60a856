"""Conversations of users with the agent: kept in PostgreSQL, answered one question at a time."""
