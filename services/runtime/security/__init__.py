"""Credentials and transport security: API keys, tokens, certificates, and the events that they give rise to."""
