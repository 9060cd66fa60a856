"""Reranking of results by a model, between the search and its expansion."""
