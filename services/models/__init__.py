"""Embedders, language models and rerankers: one small interface and one package for each kind.

Importing this package loads no model and no provider's library.
"""
