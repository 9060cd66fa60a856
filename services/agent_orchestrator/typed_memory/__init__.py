"""Typed memories: short texts with relations between them, private to their user."""
