"""The orchestrator: answers questions from all tiers, and ingests documents and facts into them.

`search/` queries the tiers and fuses their answers; `ingest/` adds documents and facts.
"""
