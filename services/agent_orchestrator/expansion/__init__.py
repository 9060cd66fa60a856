"""Expansion of a result list along the graph: which passages are reached, in which order, and by which path."""
