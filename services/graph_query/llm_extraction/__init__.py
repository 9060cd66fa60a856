"""Extraction with a language model: Graphiti for entities and facts, a prompt of our own for findings.

Modules named `graphiti_*` import Graphiti, which is heavy. Only `episode_extractor.load_session` imports them, so that
a tier without a language model never pays for it.
"""
