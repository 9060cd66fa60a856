"""Shared by all processes: server, interceptors, channels, errors, settings, telemetry, paging, identity.

Nothing here depends on documents, facts, databases or language models.
"""
