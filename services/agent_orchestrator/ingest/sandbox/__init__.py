"""Parses uploads of strangers in child processes that have no credentials and may crash."""
