"""Compares what both stores hold of a space, and mends it."""
