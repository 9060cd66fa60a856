"""The orchestrator: one question to all tiers, documents and facts into them.

`search/` fans a question out and fuses the answers; `ingest/` brings documents and facts in.
"""
