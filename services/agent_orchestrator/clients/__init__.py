"""Clients of the two tiers: searches and writes, inventories by id, embedding models, health."""
