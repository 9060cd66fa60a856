"""What every process shares: server, interceptors, channels, errors, settings, telemetry, paging, identity.

Nothing here knows of documents, facts, databases or language models.
"""
