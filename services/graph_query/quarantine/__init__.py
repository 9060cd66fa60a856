"""Moves inconsistent data out of the graph without losing it, and restores it as it was."""
