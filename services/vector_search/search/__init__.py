"""Searches: by vector, by words, or both fused; scores and chunks by id."""
