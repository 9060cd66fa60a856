"""Embedding models: which one a space has, who embeds its queries, and the change from one model to another."""
