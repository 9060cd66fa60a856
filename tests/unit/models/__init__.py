"""Embedding models, rerankers and language models: results, failures and caching."""
