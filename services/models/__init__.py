"""Embedders, language models and rerankers: one small interface each, one room for each kind.

Importing this package loads no model and no provider's library.
"""
