"""Moves the vectors of a space's graph to another embedding model."""
