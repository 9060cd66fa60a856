"""Embedders: what they return, how they fail, what they remember."""
