"""Embedding models: the local model or an OpenAI-compatible endpoint, with caches and relevance scales."""
