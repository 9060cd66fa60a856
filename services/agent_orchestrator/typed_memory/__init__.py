"""Typed memories: short texts with relations between them, each its user's alone."""
