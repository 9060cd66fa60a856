"""Parses untrusted uploads in child processes that have no credentials and may crash."""
