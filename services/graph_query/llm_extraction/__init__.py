"""Extraction with a language model: Graphiti for entities and facts, Braid's own prompt for findings.

Modules named `graphiti_*` import Graphiti, which is slow. Only `episode_extractor.load_session` imports them, so that a
tier without a language model does not load it.
"""
