"""Ingestion of documents and facts into both tiers: parse, chunk, embed, store, add to the graph."""
