"""Embedders, language models and rerankers: one small interface each, one file per provider.

Importing this package loads no model and no provider's library.
"""
