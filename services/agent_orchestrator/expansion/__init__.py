"""Expansion of a result list along the graph: the passages reached, their order, and the paths to them."""
