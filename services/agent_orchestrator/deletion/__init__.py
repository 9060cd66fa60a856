"""Deletes documents from both stores: accepted first, then done step by step, resumed after any failure."""
