"""Reranking of found passages by a model, between the search and its expansion."""
