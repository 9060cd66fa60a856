"""Runs: the answering of one question, its events, and their log."""
