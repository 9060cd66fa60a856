"""Credentials and transport security: API keys, tokens, certificates, and security events."""
