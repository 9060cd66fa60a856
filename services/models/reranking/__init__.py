"""Reranking models: a rerank endpoint, a language model, or the local one."""
