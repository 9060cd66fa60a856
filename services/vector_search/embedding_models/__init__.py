"""Embedding models: a space's model, the embedder of its queries, and the change from one model to another."""
