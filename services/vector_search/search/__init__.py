"""Searches: by meaning, by words, or both fused; scores and chunks by id."""
